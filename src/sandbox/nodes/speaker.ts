/** Renders the speakers of MetalLB as upstream's manifests do: one pod per node, in the network of the node. Pure. */
import type { KubeObject } from '../../api/object.ts'
import type { ImageDefinition } from '../images/image-definition.ts'

const NAMESPACE = 'metallb-system'
const NAME = 'speaker'
const SPEAKER_REFERENCE = 'quay.io/metallb/speaker:v0.15.3'
const RBAC = 'rbac.authorization.k8s.io/v1'
const labels = { app: 'metallb', component: 'speaker' }

export function speakerImage(program: string): ImageDefinition {
  return {
    reference: SPEAKER_REFERENCE,
    // What the program is linked with.
    packages: ['libc6'],
    entries: [{ kind: 'copy', path: '/speaker', from: program }],
    config: { entrypoint: ['/speaker'] },
  }
}

/** Without the memberlist of upstream, whose secret the controller would create for a Deployment that is not there. */
export function speakerObjects(): readonly KubeObject[] {
  const read = ['get', 'list', 'watch']
  const account = { kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }
  const clusterRole = 'metallb-system:speaker'
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      // The network of the node, and raw packets.
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace: NAMESPACE, labels } },
    {
      apiVersion: RBAC,
      kind: 'ClusterRole',
      metadata: { name: clusterRole, labels },
      rules: [
        {
          apiGroups: ['metallb.io'],
          resources: [
            'servicel2statuses',
            'servicel2statuses/status',
            'configurationstates',
            'configurationstates/status',
          ],
          verbs: ['*'],
        },
        { apiGroups: [''], resources: ['services', 'endpoints', 'nodes', 'namespaces'], verbs: read },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
        { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },
    {
      apiVersion: RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name: clusterRole, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
      subjects: [account],
    },
    {
      apiVersion: RBAC,
      kind: 'Role',
      metadata: { name: 'pod-lister', namespace: NAMESPACE, labels },
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: read },
        {
          apiGroups: ['metallb.io'],
          resources: [
            'bfdprofiles',
            'bgppeers',
            'l2advertisements',
            'bgpadvertisements',
            'ipaddresspools',
            'communities',
          ],
          verbs: read,
        },
        { apiGroups: ['metallb.io'], resources: ['servicebgpstatuses', 'servicebgpstatuses/status'], verbs: ['*'] },
      ],
    },
    {
      apiVersion: RBAC,
      kind: 'RoleBinding',
      metadata: { name: 'pod-lister', namespace: NAMESPACE, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'pod-lister' },
      subjects: [account],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: NAME, namespace: NAMESPACE, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } },
    },
  ]
}

function podSpec(): object {
  const fromField = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } })
  const probe = { httpGet: { path: '/metrics', port: 'monitoring' }, periodSeconds: 10, timeoutSeconds: 5 }
  return {
    hostNetwork: true,
    serviceAccountName: NAME,
    terminationGracePeriodSeconds: 2,
    containers: [
      {
        name: NAME,
        image: SPEAKER_REFERENCE,
        imagePullPolicy: 'Never',
        args: ['--port=7472', '--log-level=info'],
        env: [
          fromField('METALLB_NODE_NAME', 'spec.nodeName'),
          fromField('METALLB_POD_NAME', 'metadata.name'),
          fromField('METALLB_HOST', 'status.hostIP'),
        ],
        ports: [{ name: 'monitoring', containerPort: 7472 }],
        livenessProbe: { ...probe, initialDelaySeconds: 10 },
        readinessProbe: probe,
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { add: ['NET_RAW'], drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        },
      },
    ],
  }
}
