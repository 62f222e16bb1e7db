item = 'attribute'
