"""The trainer as a service on a port: gRPC, gRPC-Web and Connect, one set of methods under all three.

* `endpoints`: the servicer's methods as connectrpc endpoints; threads, deadlines, errors
* `app`: what answers under which path
* `guard`, `limits`, `refusals`: who may ask, how much, and what they are told otherwise
* `codecs`, `compression`: messages from and to bytes
* `health`, `reflection`, `metrics`, `log`: what operators and stock clients ask for
* `connections`, `pacing`: what hypercorn's HTTP/2 does not expect of the other side
* `serving`: the servicer that answers now, from the start's first moment
* `server`: sockets, start and graceful stop
"""
