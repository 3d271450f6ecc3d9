/** SL9500: errors of the doctor itself. SL9615 to SL9629: problems of the cluster itself. */
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
  title: 'A finalizer blocks the deletion of an object',
  message: ({ finalizer, owner, alive, since }) =>
    `it has been deleting since ${since} and waits for ${owner} to remove ${finalizer}${alive === 'gone' ? ', but no such operator runs' : ''}`,
  remedy: ({ alive, owner, strip }) =>
    alive === 'gone'
      ? `restore ${owner} so that it can clean up; only if it was removed permanently: ${strip}`
      : `check the log of ${owner} for the reason; removing the finalizer skips its cleanup`,
  description: `A finalizer lets a controller clean up before an object is removed. If the controller was removed first, the cleanup never
happens. Removing finalizers by force leaves databases, users and addresses behind, so it is the last resort.`,
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
  title: 'A namespace stays in Terminating',
  message: ({ reason }) => `its deletion does not finish: ${reason}`,
  remedy: ({ namespace }) =>
    `use stackloom down --cloud NAME, which deletes in the correct order; list the remaining objects: kubectl -n ${namespace} get all,openstackcontrolplanes,netconfigs,ipsets`,
  description: `A namespace is removed after all of its objects. Its conditions list the remaining objects and their finalizers. Deleting a
namespace before its cloud leaves objects whose operators can no longer read what they need.`,
  example: {
    reason: 'Some content in the namespace has finalizers remaining: openstack.org/keystoneapi in 1 resource instances',
    namespace: 'openstack2',
  },
})

export const groupUnavailable = problem<{ group: string; reason: string }>({
  code: 'SL9617',
  severity: 'error',
  title: 'An aggregated API is unavailable',
  message: ({ group, reason }) => `${group} is not available: ${reason}`,
  remedy: ({ group }) =>
    `kubectl describe apiservice ${group}; if its server was removed permanently: kubectl delete apiservice ${group}`,
  description: `An aggregated API whose server is down makes discovery incomplete: namespaces stay in Terminating, garbage collection stops,
and commands that list all kinds fail partly.`,
  example: { group: 'v1beta1.metrics.k8s.io', reason: 'failing or missing response from https://10.0.0.7:443' },
})

export const nodeNotReady = problem<{ node: string; reason: string }>({
  code: 'SL9618',
  severity: 'error',
  title: 'A node is not ready',
  message: ({ reason }) => `it is not ready: ${reason}`,
  remedy: ({ node }) =>
    `kubectl describe node ${node}; if a network change disconnected it, nmstate rolls the change back within minutes`,
  description: `After some minutes the pods of a node that is not ready are evicted, except those with local volumes. nmstate does not apply
policies there, and MetalLB moves its addresses to another node.`,
  example: { node: 'worker-1', reason: 'Kubelet stopped posting node status' },
})

export const agentMissing = problem<{ agent: string; ready: number; wanted: number; namespace: string }>({
  code: 'SL9619',
  severity: 'error',
  title: 'A node agent does not run on every node',
  message: ({ ready, wanted }) => `${ready} of ${wanted} pods are available: the agent is missing on the other nodes`,
  remedy: ({ agent, namespace }) =>
    `kubectl -n ${namespace} get pods -o wide; kubectl -n ${namespace} describe daemonset ${agent}`,
  description: `The MetalLB speaker answers for addresses, the nmstate handler configures the network, Multus attaches pods: each only on its
own node. A node without the pod looks healthy, but that function is missing.`,
  example: { agent: 'speaker', ready: 2, wanted: 3, namespace: 'metallb-system' },
})

export const podCannotRun = problem<{ cause: string; next: string }>({
  code: 'SL9620',
  severity: 'error',
  title: 'A pod cannot run',
  message: ({ cause }) => cause,
  remedy: ({ next }) => next,
  description: `An image cannot be pulled, a container crashes repeatedly, or a Secret or ConfigMap is missing: the pod status shows which. If
galera crashes at start, its key is usually missing in osp-secret; if dnsmasq crashes, it usually has no upstream server.`,
  example: {
    cause: 'container galera of Pod openstack/openstack-galera-0 crashes repeatedly with exit code 1',
    next: 'kubectl -n openstack logs openstack-galera-0 -c galera --previous',
  },
})

export const podUnschedulable = problem<{ reason: string; pod: string }>({
  code: 'SL9621',
  severity: 'error',
  title: 'A pod cannot be scheduled',
  message: ({ reason }) => `no node fits: ${reason}`,
  remedy: ({ pod }) =>
    `kubectl -n ${pod.split('/')[0]} describe pod ${pod.split('/')[1]}; free resources, add a node, or relax its nodeSelector`,
  description: `The scheduler reports a reason for each node: too little CPU or memory, a taint, a volume on another node. A highly available
control plane needs about half a core and 15 GiB of memory per cloud.`,
  example: { reason: '0/3 nodes are available: 3 Insufficient memory', pod: 'openstack/openstack-galera-1' },
})

export const claimPending = problem<{ cause: string; next: string }>({
  code: 'SL9622',
  severity: 'error',
  title: 'A volume claim stays pending',
  message: ({ cause }) => cause,
  remedy: ({ next }) => next,
  description: `A database or message queue waits for its volume. The storage class does not exist, it has no provisioner and no matching
volume is free, or the volumes of an earlier cloud are Released and cannot be reused.`,
  example: {
    cause:
      'PersistentVolumeClaim openstack/mysql-db-openstack-galera-0 requests the storage class fast, which does not exist',
    next: 'kubectl get storageclass',
  },
})

export const noDefaultClass = problem<{ claim: string; classes: readonly string[] }>({
  code: 'SL9623',
  severity: 'error',
  title: 'A claim has no storage class, and the cluster has no default class',
  message: () => 'it has no storage class, and none is the default: no volume is provisioned',
  remedy: ({ classes }) =>
    classes.length === 0
      ? 'install a storage class, or create a volume manually'
      : `set one in the control plane (storageClass: ${classes[0]}), or make it the default: kubectl annotate storageclass ${classes[0]} storageclass.kubernetes.io/is-default-class=true`,
  description: `A claim without a class uses the default class of the cluster. Without a default it waits for a volume without a class.`,
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

export const ruleFailed = problem<{ rule: string; reason: string }>({
  code: 'SL9500',
  severity: 'warning',
  title: 'A rule of the doctor failed',
  message: ({ rule, reason }) => `the rule ${rule} failed: ${reason}`,
  remedy: () => 'report it together with the objects that the rule reads; all other rules were evaluated',
  description: `Rules read objects from clusters and dumps, which may be malformed. A rule that throws an error is reported and has no result:
whether the problem exists in the cluster is unknown.`,
  example: { rule: 'metallb/pending-unknown-pool', reason: 'pools is not iterable' },
})
