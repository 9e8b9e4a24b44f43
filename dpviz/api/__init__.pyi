from . import console as console
from .commands import declare as declare
from .commands import open_table as open_table
from .commands import release as release
from .commands import select_k as select_k
from .commands import sweep as sweep
from .estimators import PrivateKMeans as PrivateKMeans
