v = 'a'
