"""The client of Kubernetes for Python: objects, a watch, a Lease, a kind of one's own. Ends with 0 or says what failed."""

import datetime
import sys

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

NAMESPACE = "python"


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def main():
    config.load_kube_config()
    api = client.ApiClient()
    core = client.CoreV1Api(api)
    try:
        core.create_namespace({"metadata": {"name": NAMESPACE}})
    except ApiException as error:
        if error.status != 409:
            raise

    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    name = core.create_namespaced_config_map(
        NAMESPACE, {"metadata": {"generateName": "map-"}, "data": {"a": "1"}}
    ).metadata.name
    core.patch_namespaced_config_map(name, NAMESPACE, {"data": {"a": "2"}})
    core.delete_namespaced_config_map(name, NAMESPACE)
    told = []
    for event in watch.Watch().stream(
        core.list_namespaced_config_map, NAMESPACE, resource_version=version, timeout_seconds=60
    ):
        if event["object"].metadata.name == name:
            told.append(event["type"])
        if told[-1:] == ["DELETED"]:
            break
    assert told == ["ADDED", "MODIFIED", "DELETED"], told
    print("ok: a watch tells of each change once")

    leases = client.CoordinationV1Api(api)
    spec = {"holderIdentity": "python", "leaseDurationSeconds": 15, "acquireTime": now(), "renewTime": now()}
    lease = leases.create_namespaced_lease(NAMESPACE, {"metadata": {"generateName": "lease-"}, "spec": spec})
    lease.spec.renew_time = now()
    leases.replace_namespaced_lease(lease.metadata.name, NAMESPACE, lease)
    try:
        leases.replace_namespaced_lease(lease.metadata.name, NAMESPACE, lease)
        raise AssertionError("a second write of the same version is no conflict")
    except ApiException as error:
        assert error.status == 409, error
    print("ok: a Lease is held and renewed")

    kinds = dynamic.DynamicClient(api)
    events = kinds.resources.get(api_version="events.k8s.io/v1", kind="Event")
    events.create(
        namespace=NAMESPACE,
        body={
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"generateName": "event-"},
            "eventTime": now().strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": "setpoint.dev/python",
            "reportingInstance": "one",
            "action": "Tell",
            "reason": "Told",
            "type": "Normal",
            "note": "from Python",
            "regarding": {"kind": "Lease", "namespace": NAMESPACE, "name": lease.metadata.name},
        },
    )
    notes = [event.message for event in core.list_namespaced_event(NAMESPACE).items]
    assert "from Python" in notes, notes
    print("ok: an event of events.k8s.io is one of the core group")


try:
    main()
except ApiException as error:
    sys.exit(f"failed: {error.status} {error.reason}: {error.body}")
