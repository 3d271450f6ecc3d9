"""Creates users, roles, services and endpoints in keystone, or changes what differs. Reads JSON from stdin."""
import json
import sys
import urllib.request

request = json.load(sys.stdin)
base = request["url"]


def call(method, path, body=None, token=None):
    headers = {"Content-Type": "application/json", **({"X-Auth-Token": token} if token else {})}
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers, method=method), timeout=60) as answer:
        text = answer.read()
        return answer.headers, json.loads(text) if text else {}


def authenticate():
    user = {"name": "admin", "domain": {"id": "default"}, "password": request["password"]}
    scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
    identity = {"methods": ["password"], "password": {"user": user}}
    headers, _ = call("POST", "/auth/tokens", {"auth": {"identity": identity, "scope": scope}})
    return headers["X-Subject-Token"]


token = authenticate()


def ensure(kind, plural, matches, fields):
    _, found = call("GET", "/" + plural, token=token)
    for item in found[plural]:
        if all(item.get(key) == value for key, value in matches.items()):
            changed = {key: value for key, value in fields.items() if item.get(key) != value}
            if changed:
                call("PATCH", f"/{plural}/{item['id']}", {kind: changed}, token)
            return item["id"]
    _, created = call("POST", "/" + plural, {kind: {**matches, **fields}}, token)
    return created[kind]["id"]


roles = {name: ensure("role", "roles", {"name": name}, {}) for name in ("admin", "service")}
project = ensure("project", "projects", {"name": "service", "domain_id": "default"}, {})
for user in request["users"]:
    identifier = ensure("user", "users", {"name": user["name"], "domain_id": "default"}, {"password": user["password"]})
    for role in roles.values():
        call("PUT", f"/projects/{project}/users/{identifier}/roles/{role}", token=token)
for service in request["services"]:
    identifier = ensure("service", "services", {"type": service["type"]}, {"name": service["name"]})
    for interface, url in service["urls"].items():
        matches = {"service_id": identifier, "interface": interface, "region_id": request["region"]}
        ensure("endpoint", "endpoints", matches, {"url": url})
