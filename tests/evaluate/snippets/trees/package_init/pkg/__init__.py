order = ['pkg']
