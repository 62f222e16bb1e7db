import no_such_module_abc
y = 1
