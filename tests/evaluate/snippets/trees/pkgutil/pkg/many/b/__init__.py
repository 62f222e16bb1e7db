v = 'b'
