from dataclasses import dataclass, field
from typing import Any, Dict, Optional


@dataclass
class ApplyResult:
    status: str
    child_text: str
    trace: Dict[str, Any] = field(default_factory=dict)
    error: Optional[str] = None
