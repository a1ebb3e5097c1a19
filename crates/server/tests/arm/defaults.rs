//! Clusters and external auths of ARO-HCP: every version shows the defaults of the real service, whichever version wrote.

use serde_json::{Value as Json, json};

use crate::{catalogs::aro_hcp, client::Served};

const CLUSTER: &str = "/subscriptions/0/resourceGroups/group/providers/Microsoft.RedHatOpenShift\
                       /hcpOpenShiftClusters/minimal";
const VERSIONS: [&str; 4] = ["2024-06-10-preview", "2025-12-23-preview", "2026-06-30-preview", "2026-09-01-preview"];
const SUBNET: &str = "/subscriptions/0/resourceGroups/group/providers/Microsoft.Network/virtualNetworks/net/subnets";

#[tokio::test]
async fn every_version_shows_the_defaults_of_a_minimal_cluster() {
    for writer in VERSIONS {
        let Some(kinds) = aro_hcp() else { return };
        let served = Served::new(kinds.served).await;
        let created = served.put(&at(writer), &minimal(writer)).await.with_status(&[201]);
        assert_eq!(created["properties"], shown(writer, writer), "the answer to a PUT at {writer}");
        let (collection, _) = CLUSTER.rsplit_once('/').expect("a collection");
        for reader in VERSIONS {
            assert_eq!(properties(&served, CLUSTER, reader).await, shown(writer, reader), "{writer} read at {reader}");
            let listed = served.get(&format!("{collection}?api-version={reader}")).await.with_status(&[200]);
            assert_eq!(listed["value"][0]["properties"], shown(writer, reader), "{writer} listed at {reader}");
        }
        // What was read is written back without a change.
        let before = served.get(&at(writer)).await.with_status(&[200]);
        served.put(&at(writer), &before).await.with_status(&[200]);
        for reader in VERSIONS {
            assert_eq!(
                properties(&served, CLUSTER, reader).await,
                shown(writer, reader),
                "{writer} put, {reader} read"
            );
        }
    }
}

#[tokio::test]
async fn every_version_shows_a_cluster_without_a_key_as_platform_managed() {
    for writer in &VERSIONS[..2] {
        let Some(kinds) = aro_hcp() else { return };
        let served = Served::new(kinds.served).await;
        let mut request = minimal(writer);
        request["properties"].as_object_mut().expect("an object").remove("etcd");
        served.put(&at(writer), &request).await.with_status(&[201]);
        for reader in VERSIONS {
            let mut expected = shown(writer, reader);
            expected["etcd"] = json!({ "dataEncryption": { "keyManagementMode": "PlatformManaged" } });
            assert_eq!(properties(&served, CLUSTER, reader).await, expected, "{writer} read at {reader}");
        }
    }
}

#[tokio::test]
async fn an_autoscaler_that_is_set_in_part_gets_the_other_defaults() {
    for writer in VERSIONS {
        let Some(kinds) = aro_hcp() else { return };
        let served = Served::new(kinds.served).await;
        let mut request = minimal(writer);
        request["properties"]["autoscaling"] = json!({ "maxNodesTotal": 7, "podPriorityThreshold": 0 });
        request["properties"]["nodeDrainTimeoutMinutes"] = json!(0);
        served.put(&at(writer), &request).await.with_status(&[201]);
        for reader in VERSIONS {
            let shown = properties(&served, CLUSTER, reader).await;
            assert_eq!(
                shown["autoscaling"],
                json!({
                    "maxNodeProvisionTimeSeconds": 900,
                    "maxNodesTotal": 7,
                    "maxPodGracePeriodSeconds": 600,
                    "podPriorityThreshold": 0,
                }),
                "{writer} read at {reader}"
            );
            // The first version shows a timeout of 0 only to those who wrote it there.
            let expected = (reader != VERSIONS[0] || writer == reader).then(|| json!(0));
            assert_eq!(shown.get("nodeDrainTimeoutMinutes"), expected.as_ref(), "{writer} read at {reader}");
        }
        let patch = json!({ "properties": {
            "autoscaling": { "maxPodGracePeriodSeconds": 60 },
            "nodeDrainTimeoutMinutes": 15,
        } });
        served.patch(&at(writer), &patch).await.with_status(&[200]);
        for reader in VERSIONS {
            let shown = properties(&served, CLUSTER, reader).await;
            assert_eq!(shown["autoscaling"]["maxPodGracePeriodSeconds"], 60, "{writer} patched, {reader} read");
            assert_eq!(shown["autoscaling"]["maxNodeProvisionTimeSeconds"], 900, "{writer} patched, {reader} read");
            assert_eq!(shown["nodeDrainTimeoutMinutes"], 15, "{writer} patched, {reader} read");
        }
    }
}

#[tokio::test]
async fn every_version_shows_the_defaults_of_a_minimal_external_auth() {
    for writer in VERSIONS {
        let Some(kinds) = aro_hcp() else { return };
        let served = Served::new(kinds.served).await;
        served.put(&at(writer), &minimal(writer)).await.with_status(&[201]);
        let auth = format!("{CLUSTER}/externalAuths/entra");
        let client = json!({
            "component": { "name": "console", "authClientNamespace": "openshift-console" },
            "clientId": "id",
            "type": "Public",
        });
        let request = json!({ "properties": {
            "issuer": { "url": "https://login.example.com/tenant/v2.0", "audiences": ["console"] },
            "claim": { "mappings": { "username": { "claim": "email" } } },
            "clients": [client],
        } });
        served.put(&format!("{auth}?api-version={writer}"), &request).await.with_status(&[201]);
        let mut expected = request["properties"].clone();
        expected["provisioningState"] = json!("Succeeded");
        expected["claim"] = json!({
            "mappings": { "username": { "claim": "email", "prefixPolicy": "None" } },
            "validationRules": [],
        });
        expected["clients"][0]["extraScopes"] = json!([]);
        for reader in VERSIONS {
            assert_eq!(properties(&served, &auth, reader).await, expected, "{writer} read at {reader}");
        }
    }
}

/// A cluster with the fields that a version requires and an encryption key.
fn minimal(version: &str) -> Json {
    let mut properties = json!({
        "platform": {
            "subnetId": format!("{SUBNET}/nodes"),
            "networkSecurityGroupId":
                "/subscriptions/0/resourceGroups/group/providers/Microsoft.Network/networkSecurityGroups/security",
            "managedResourceGroup": "managed",
            "operatorsAuthentication": { "userAssignedIdentities": {
                "controlPlaneOperators": { "ingress": identity("ingress") },
                "dataPlaneOperators": { "disk": identity("disk") },
                "serviceManagedIdentity": identity("service"),
            } },
        },
        "etcd": { "dataEncryption": {
            "keyManagementMode": "CustomerManaged",
            "customerManaged": { "kms": { "activeKey": { "name": "key", "version": "1" } } },
        } },
    });
    let kms = &mut properties["etcd"]["dataEncryption"]["customerManaged"]["kms"];
    if version == VERSIONS[0] {
        kms["activeKey"]["vaultName"] = json!("vault");
    } else {
        kms["vaultName"] = json!("vault");
        kms["visibility"] = json!("Private");
        properties["version"] = json!({ "id": "4.20" });
        properties["platform"]["vnetIntegrationSubnetId"] = json!(format!("{SUBNET}/integration"));
    }
    json!({ "properties": properties })
}

fn identity(name: &str) -> String {
    format!("/subscriptions/0/resourceGroups/group/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}")
}

/// The properties of that cluster, created with one version and read with another.
fn shown(writer: &str, reader: &str) -> Json {
    let mut shown = minimal(writer)["properties"].take();
    shown["api"] = json!({ "visibility": "Public" });
    shown["autoscaling"] = json!({
        "maxNodeProvisionTimeSeconds": 900,
        "maxPodGracePeriodSeconds": 600,
        "podPriorityThreshold": -10,
    });
    shown["clusterImageRegistry"] = json!({ "state": "Enabled" });
    shown["network"] = json!({
        "hostPrefix": 23,
        "machineCidr": "10.0.0.0/16",
        "networkType": "OVNKubernetes",
        "podCidr": "10.128.0.0/14",
        "serviceCidr": "172.30.0.0/16",
    });
    shown["platform"]["outboundType"] = json!("LoadBalancer");
    shown["provisioningState"] = json!("Succeeded");
    shown["version"]["channelGroup"] = json!("stable");
    let visibility = if writer == VERSIONS[0] { "Public" } else { "Private" };
    let encryption = &mut shown["etcd"]["dataEncryption"]["customerManaged"];
    encryption["encryptionType"] = json!("KMS");
    if reader == VERSIONS[0] {
        encryption["kms"] = json!({ "activeKey": { "name": "key", "vaultName": "vault", "version": "1" } });
        shown["platform"].as_object_mut().expect("an object").remove("vnetIntegrationSubnetId");
    } else {
        encryption["kms"] = json!({
            "activeKey": { "name": "key", "version": "1" },
            "vaultName": "vault",
            "visibility": visibility,
        });
        shown["nodeDrainTimeoutMinutes"] = json!(0);
    }
    if reader >= VERSIONS[2] {
        shown["ingress"] = json!({ "type": "Public" });
        shown["cryptoRestrictions"] = json!("None");
    }
    shown
}

fn at(version: &str) -> String {
    format!("{CLUSTER}?api-version={version}")
}

async fn properties(served: &Served, id: &str, version: &str) -> Json {
    served.get(&format!("{id}?api-version={version}")).await.with_status(&[200])["properties"].take()
}
