from .algorithms import CARDS as CARDS
from .api import PrivateKMeans as PrivateKMeans
from .api import declare as declare
from .api import open_table as open_table
from .api import release as release
from .api import select_k as select_k
from .api import sweep as sweep
from .app import show as show
from .core import ChoiceWarning as ChoiceWarning
from .core import Domain as Domain
from .core import PrivacyWarning as PrivacyWarning
from .core import PrivateTable as PrivateTable
from .core import Relation as Relation
from .core import RequestError as RequestError
from .core import Scaling as Scaling
from .releases import Account as Account
from .releases import ReadRelease as ReadRelease
from .releases import read_release as read_release
from .releases import verify as verify
from .runs import Run as Run
from .runs import advise as advise
from .runs import run as run
from .tables import LoadedTable as LoadedTable
from .tables import load_csv as load_csv
from .tables import sample as sample

__version__: str
