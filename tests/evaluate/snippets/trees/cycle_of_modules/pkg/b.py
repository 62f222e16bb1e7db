import pkg.a
name = 'b'
def call():
    return name + pkg.a.name
