"""The Python client of Kubernetes does with a served kind what programs do with one.

Called with the address of a server of examples/orders; stops with an error at the first thing that is not as it should be.
"""

import sys
import threading

from kubernetes import client, dynamic, watch
from kubernetes.client.exceptions import ApiException

GROUP, PLURAL, NAMESPACE = "shop.example.com", "orders", "python"


def order(version, name, quantity):
    field = {"v1": "qty", "v2": "quantity", "v3": "quantity"}[version]
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Order",
        "metadata": {"name": name, "labels": {"of": version}},
        "spec": {field: quantity},
    }


def refused(status, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except ApiException as error:
        assert error.status == status, (error.status, status, error.body)
        return error
    raise AssertionError(f"{call.__name__} was not refused")


def objects(api):
    """Every version creates, and every other reads, lists, patches, replaces and removes."""
    versions = ["v1", "v2", "v3"]
    for version in versions:
        api.create_namespaced_custom_object(GROUP, version, NAMESPACE, PLURAL, order(version, f"of-{version}", 3))
    refused(409, api.create_namespaced_custom_object, GROUP, "v1", NAMESPACE, PLURAL, order("v1", "of-v1", 3))
    refused(404, api.get_namespaced_custom_object, GROUP, "v1", NAMESPACE, PLURAL, "nobody")
    for version in versions:
        everything = api.list_namespaced_custom_object(GROUP, version, NAMESPACE, PLURAL)
        assert [item["metadata"]["name"] for item in everything["items"]] == ["of-v1", "of-v2", "of-v3"]
        assert all(item["apiVersion"] == f"{GROUP}/{version}" for item in everything["items"])
        first = api.list_namespaced_custom_object(GROUP, version, NAMESPACE, PLURAL, limit=2)
        rest = api.list_namespaced_custom_object(
            GROUP, version, NAMESPACE, PLURAL, limit=2, _continue=first["metadata"]["continue"]
        )
        assert first["items"] + rest["items"] == everything["items"]
        chosen = api.list_namespaced_custom_object(GROUP, version, NAMESPACE, PLURAL, label_selector="of=v2")
        assert [item["metadata"]["name"] for item in chosen["items"]] == ["of-v2"]
        there = api.get_namespaced_custom_object(GROUP, version, NAMESPACE, PLURAL, "of-v1")
        patched = api.patch_namespaced_custom_object(
            GROUP, version, NAMESPACE, PLURAL, "of-v1", {"metadata": {"annotations": {"by": version}}}
        )
        assert patched["metadata"]["annotations"]["by"] == version
        refused(409, api.replace_namespaced_custom_object, GROUP, version, NAMESPACE, PLURAL, "of-v1", there)
        api.replace_namespaced_custom_object(GROUP, version, NAMESPACE, PLURAL, "of-v1", patched)
    wrong = order("v1", "wrong", 3)
    wrong["spec"]["qty"] = "many"
    assert "spec.qty" in refused(422, api.create_namespaced_custom_object, GROUP, "v1", NAMESPACE, PLURAL, wrong).body


def events(api):
    """A watch from a list on tells what happens after it, as its version."""
    listed = api.list_namespaced_custom_object(GROUP, "v3", NAMESPACE, PLURAL)
    seen = []

    def follow():
        stream = watch.Watch().stream(
            api.list_namespaced_custom_object,
            GROUP,
            "v3",
            NAMESPACE,
            PLURAL,
            resource_version=listed["metadata"]["resourceVersion"],
            timeout_seconds=20,
        )
        for event in stream:
            seen.append((event["type"], event["object"]["metadata"]["name"], event["object"]["apiVersion"]))
            if event["type"] == "DELETED":
                return

    follower = threading.Thread(target=follow)
    follower.start()
    api.create_namespaced_custom_object(GROUP, "v1", NAMESPACE, PLURAL, order("v1", "watched", 1))
    patch = {"spec": {"quantity": 2}}
    api.patch_namespaced_custom_object(GROUP, "v2", NAMESPACE, PLURAL, "watched", patch)
    api.delete_namespaced_custom_object(GROUP, "v1", NAMESPACE, PLURAL, "watched")
    follower.join(30)
    assert seen == [(what, "watched", f"{GROUP}/v3") for what in ["ADDED", "MODIFIED", "DELETED"]], seen


def discovered(api_client):
    """The client that finds out itself what there is."""
    found = dynamic.DynamicClient(api_client).resources.get(api_version=f"{GROUP}/v2", kind="Order")
    assert found.name == PLURAL and found.namespaced
    assert found.get(namespace=NAMESPACE, name="of-v3").spec.quantity == 3
    found.delete(namespace=NAMESPACE, name="of-v3")
    left = [item.metadata.name for item in found.get(namespace=NAMESPACE).items]
    assert left == ["of-v1", "of-v2"], left


def main():
    configuration = client.Configuration(host=sys.argv[1])
    with client.ApiClient(configuration) as api_client:
        api = client.CustomObjectsApi(api_client)
        objects(api)
        events(api)
        discovered(api_client)
    print("all as it should be")


main()
