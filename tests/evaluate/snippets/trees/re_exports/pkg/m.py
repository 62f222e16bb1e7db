from pkg.api import Thing, helper as h
from pkg import api
out = Thing().name(), h(2), api.Thing is Thing, Thing.__module__
