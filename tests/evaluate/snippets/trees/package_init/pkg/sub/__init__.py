import pkg
pkg.order.append('sub')
value = 'from init'
