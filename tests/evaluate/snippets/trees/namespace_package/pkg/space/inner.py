x = 'inner'
