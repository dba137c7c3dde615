"""All named instances as one dataset, for statements with one constant over them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from marginaudit.claims.claim import Claim
from marginaudit.claims.instances.instance import KIND, Instance
from marginaudit.claims.instances.paper import InstanceConfig, assumes_functions, is_across
from marginaudit.claims.paper import Paper
from marginaudit.claims.predicates import Predicate, checked
from marginaudit.claims.run import BaseRun, Progress
from marginaudit.orders import Assumption, InputError, Kind

NAME = "all-instances"


@dataclass(frozen=True, eq=False)
class Instances:
    """All instances of a file."""

    members: tuple[Instance, ...]
    name: str = NAME


def _from_document(_: Any, where: str, _name: str) -> NoReturn:
    raise InputError(where, got="a collection of instances", expected="a file of claims that has them")


KIND_OF_ALL = Kind(
    name="collections of instances",
    data=Instances,
    accepts=lambda _: False,
    from_document=_from_document,
    to_document=lambda data: {"instances": [KIND.to_document(one) for one in data.members]},
    cases={},
    assumptions={},
    describe=lambda data: {"instances": [one.name for one in data.members]},
    in_words=lambda data: ", ".join(one.name for one in data.members),
)


class InstancesRun(BaseRun[Instances]):
    """Stand-in for a run: claims are judged on the values of the instances that meet their assumptions."""

    kind = KIND_OF_ALL

    def __init__(self, data: Instances, config: InstanceConfig | None = None, progress: Progress | None = None) -> None:
        super().__init__(data, progress)
        self.config = config or InstanceConfig()
        self._values: tuple[Any, ...] = ()

    def begin(self) -> None:
        """Take all instances, before a claim's assumptions leave out some."""
        super().begin()
        self._values = tuple(one.value for one in self.dataset.members)

    @property
    def subject(self) -> Any:
        """Values of the instances."""
        return self._values

    def checked(self, name: str, predicate: Predicate) -> Assumption:
        """Leave out the instances that fail an assumption, which fails if none is left."""
        self._values = tuple(value for value in self._values if checked(name, predicate, value, {}).holds)
        return Assumption(name, bool(self._values), None if self._values else {"instances": 0})


class InstancesPaper(Paper):
    """All named instances together."""

    name = NAME
    source = "all named instances together"
    kind = KIND_OF_ALL
    config = InstanceConfig
    run = InstancesRun
    claims = ()

    @property
    def own_claims(self) -> str:
        """Data of its claims."""
        return self.source

    def judges(self, claim: Claim) -> bool:
        """Whether the claim is about instances, all together."""
        return assumes_functions(claim) and is_across(claim)

    def facts(self, run: BaseRun[Any]) -> dict[str, Any]:
        """Names of the instances."""
        return {"values": KIND_OF_ALL.in_words(run.dataset)}


ALL_INSTANCES = InstancesPaper()


def together(instances: Iterable[Instance], claims: Iterable[Claim]) -> list[Instances]:
    """All instances as one dataset, if a claim is about them together."""
    members = tuple(instances)
    return [Instances(members)] if members and any(map(ALL_INSTANCES.judges, claims)) else []
