/** SL9615 to SL9629: the cluster itself. */
import { problem } from '../../errors/finding.ts'

export const stuckFinalizer = problem<{
  finalizer: string
  owner: string
  alive: 'gone' | 'there' | 'unknown'
  since: string
  strip: string
}>({
  code: 'SL9615',
  severity: 'error',
  title: 'An object is not let go by its finalizer',
  message: ({ finalizer, owner, alive, since }) =>
    `it is being deleted since ${since} and waits for ${owner} to remove ${finalizer}${alive === 'gone' ? ', but nothing of that name runs' : ''}`,
  remedy: ({ alive, owner, strip }) =>
    alive === 'gone'
      ? `bring ${owner} back, so that it can clean up; only when it is gone for good: ${strip}`
      : `see what ${owner} waits for in its log; taking the finalizer away leaves behind what it would have cleaned up`,
  description: `A finalizer is a promise of a controller to clean up before an object goes. When the controller was removed first, nobody
keeps it. Taking finalizers off by force leaves databases, users and addresses behind, so it is the last thing to do.`,
  example: {
    finalizer: 'openstack.org/keystoneapi',
    owner: 'keystone-operator',
    alive: 'gone',
    since: '2026-03-01T09:00:00Z',
    strip: `kubectl -n openstack patch keystoneapi keystone --type=merge -p '{"metadata":{"finalizers":null}}'`,
  },
})

export const namespaceTerminating = problem<{ reason: string; namespace: string }>({
  code: 'SL9616',
  severity: 'error',
  title: 'A namespace does not end',
  message: ({ reason }) => `it is being deleted and does not end: ${reason}`,
  remedy: ({ namespace }) =>
    `stackloom down --cloud NAME works in the right order; what is left: kubectl -n ${namespace} get all,openstackcontrolplanes,netconfigs,ipsets`,
  description: `A namespace ends when everything in it has. Its conditions say what is left and which finalizers hold it. Deleting a
namespace before the cloud in it leaves objects whose operators can no longer read what they need.`,
  example: {
    reason: 'Some content in the namespace has finalizers remaining: openstack.org/keystoneapi in 1 resource instances',
    namespace: 'openstack2',
  },
})

export const groupUnavailable = problem<{ group: string; reason: string }>({
  code: 'SL9617',
  severity: 'error',
  title: 'A part of the API does not answer',
  message: ({ group, reason }) => `${group} is not available: ${reason}`,
  remedy: ({ group }) =>
    `kubectl describe apiservice ${group}; if its server is gone for good: kubectl delete apiservice ${group}`,
  description: `An aggregated API whose server is down makes discovery incomplete: namespaces do not end, garbage is not collected, and
commands that list everything fail in part.`,
  example: {
    group: 'v1beta1.metrics.k8s.io',
    reason: 'failing or missing response from https://10.0.0.7:443',
  },
})

export const nodeNotReady = problem<{ node: string; reason: string }>({
  code: 'SL9618',
  severity: 'error',
  title: 'A node is not ready',
  message: ({ reason }) => `it is not ready: ${reason}`,
  remedy: ({ node }) =>
    `kubectl describe node ${node}; if it went away with a change of its network, nmstate rolls that back within minutes`,
  description: `Pods of a node that is not ready are moved away after some minutes, those with local volumes are not. Policies of nmstate
are not taken up there, and MetalLB moves its addresses to another node.`,
  example: { node: 'worker-1', reason: 'Kubelet stopped posting node status' },
})

export const agentMissing = problem<{ agent: string; ready: number; wanted: number; namespace: string }>({
  code: 'SL9619',
  severity: 'error',
  title: 'A node agent does not run everywhere',
  message: ({ ready, wanted }) => `${ready} of ${wanted} pods are available: nodes without one are not served`,
  remedy: ({ agent, namespace }) =>
    `kubectl -n ${namespace} get pods -o wide; kubectl -n ${namespace} describe daemonset ${agent}`,
  description: `MetalLB's speaker answers for addresses, nmstate's handler configures the network, Multus attaches pods: each on its own
node only. Where the pod does not run, the node looks healthy and that part of it does nothing.`,
  example: { agent: 'speaker', ready: 2, wanted: 3, namespace: 'metallb-system' },
})

export const podTrouble = problem<{ cause: string; next: string }>({
  code: 'SL9620',
  severity: 'error',
  title: 'A pod cannot run',
  message: ({ cause }) => cause,
  remedy: ({ next }) => next,
  description: `An image that cannot be pulled, a container that ends again and again, a Secret or ConfigMap that is not there: the pod's
own status says which. Galera that crashes at start mostly lacks its key in osp-secret; dnsmasq lacks a server.`,
  example: {
    cause: 'container galera of Pod openstack/openstack-galera-0 crashes again and again with exit code 1',
    next: 'kubectl -n openstack logs openstack-galera-0 -c galera --previous',
  },
})

export const podUnschedulable = problem<{ reason: string; pod: string }>({
  code: 'SL9621',
  severity: 'error',
  title: 'A pod finds no node',
  message: ({ reason }) => `no node takes it: ${reason}`,
  remedy: ({ pod }) =>
    `kubectl -n ${pod.split('/')[0]} describe pod ${pod.split('/')[1]}; free room, add a node, or relax its nodeSelector`,
  description: `The scheduler names for each node why it will not do: too little CPU or memory, a taint, a volume in another place. A
highly available control plane needs about half a core and 15 GiB of memory for itself, for each cloud.`,
  example: { reason: '0/3 nodes are available: 3 Insufficient memory', pod: 'openstack/openstack-galera-1' },
})

export const claimPending = problem<{ cause: string; next: string }>({
  code: 'SL9622',
  severity: 'error',
  title: 'A volume claim is not served',
  message: ({ cause }) => cause,
  remedy: ({ next }) => next,
  description: `A database or message bus waits for its volume. The storage class does not exist, has no provisioner and no volume that
fits is free, or the volumes of an earlier cloud are Released and not for others to take.`,
  example: {
    cause:
      'PersistentVolumeClaim openstack/mysql-db-openstack-galera-0 asks for the storage class fast, which does not exist',
    next: 'kubectl get storageclass',
  },
})

export const noDefaultClass = problem<{ claim: string; classes: readonly string[] }>({
  code: 'SL9623',
  severity: 'error',
  title: 'A claim names no storage class, and there is no default one',
  message: () => 'it names no storage class, and none is the default: nobody serves it',
  remedy: ({ classes }) =>
    classes.length === 0
      ? 'install a storage class, or make a volume by hand'
      : `name one in the control plane (storageClass: ${classes[0]}), or make it the default: kubectl annotate storageclass ${classes[0]} storageclass.kubernetes.io/is-default-class=true`,
  description: `A claim without a class is for the cluster's default one. Without a default it waits for a volume without a class.`,
  example: { claim: 'openstack/mysql-db-openstack-galera-0', classes: ['local-storage'] },
})

export const certificateNotReady = problem<{ reason: string; describe: string }>({
  code: 'SL9624',
  severity: 'error',
  title: 'A certificate is not issued',
  message: ({ reason }) => `it is not issued: ${reason}`,
  remedy: ({ describe }) => `${describe}; then kubectl get certificaterequests,orders in the same namespace`,
  description: `Services with TLS wait for their certificates. The issuer does not exist or is not ready, or cert-manager does not run.`,
  example: {
    reason: 'Referenced "Issuer" not found: issuer.cert-manager.io "rootca-internal" not found',
    describe: 'kubectl -n openstack describe certificate.cert-manager.io keystone-internal-svc',
  },
})
