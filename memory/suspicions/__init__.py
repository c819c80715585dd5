"""What in a text tries to be more, or other, than it looks: plain values in and out, offline, no ORM.

Orders to whoever reads by machine, letters that look like others, encoded text, characters nobody sees, hosts. A
finding changes nothing and strips nothing: it tells a reviewer where to look, and what a model would read there.
"""

from memory.suspicions.blobs import Blob, blobs_in, decoded
from memory.suspicions.hosts import hosts_in
from memory.suspicions.lookalikes import Lookalike, lookalikes_in, plain_letters
from memory.suspicions.orders import gives_orders, order_in

__all__ = [
    "Blob",
    "Lookalike",
    "blobs_in",
    "decoded",
    "gives_orders",
    "hosts_in",
    "lookalikes_in",
    "order_in",
    "plain_letters",
]
