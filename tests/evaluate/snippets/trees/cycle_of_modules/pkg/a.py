from pkg import b
name = 'a'
def call():
    return name + b.name
