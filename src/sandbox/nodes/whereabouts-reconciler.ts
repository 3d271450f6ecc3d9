/**
 * Renders the reconciler of whereabouts as upstream's manifests do: a pod that frees addresses whose pod is gone. It reads its
 * schedule from a ConfigMap. Pure.
 */
import type { KubeObject } from '../../api/object.ts'
import type { ImageDefinition } from '../images/image-definition.ts'

const NAMESPACE = 'kube-system'
const NAME = 'whereabouts-reconciler'
const ACCOUNT = 'whereabouts'
const CONFIG = 'whereabouts-config'
const REFERENCE = 'ghcr.io/k8snetworkplumbingwg/whereabouts:v0.9.4'
const RBAC = 'rbac.authorization.k8s.io/v1'
const labels = { app: NAME, name: NAME, tier: 'node' }

/** Without it there are no pools to reconcile. */
export const poolCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name: 'ippools.whereabouts.cni.cncf.io',
}

export function reconcilerImage(program: string): ImageDefinition {
  return {
    reference: REFERENCE,
    // What the program is linked with.
    packages: ['libc6'],
    entries: [{ kind: 'copy', path: '/ip-reconciler', from: program }],
    config: { entrypoint: ['/ip-reconciler'] },
  }
}

export function reconcilerObjects(): readonly KubeObject[] {
  const role = 'whereabouts-cni'
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace: NAMESPACE } },
    {
      apiVersion: RBAC,
      kind: 'ClusterRole',
      metadata: { name: role },
      rules: [
        {
          apiGroups: ['whereabouts.cni.cncf.io'],
          resources: ['ippools', 'overlappingrangeipreservations', 'nodeslicepools'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
        { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
      ],
    },
    {
      apiVersion: RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name: ACCOUNT },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: NAMESPACE }],
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: CONFIG, namespace: NAMESPACE },
      // Upstream: once per day. A sandbox rarely lives that long, and its few pools cost nothing.
      data: { 'cron-expression': '@every 15s' },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: NAME, namespace: NAMESPACE, labels },
      // It elects no leader, so there must be one.
      spec: {
        replicas: 1,
        selector: { matchLabels: { name: NAME } },
        template: { metadata: { labels }, spec: podSpec() },
      },
    },
  ]
}

function podSpec(): object {
  return {
    serviceAccountName: ACCOUNT,
    terminationGracePeriodSeconds: 2,
    containers: [
      {
        name: NAME,
        image: REFERENCE,
        imagePullPolicy: 'Never',
        args: ['-log-level', 'verbose'],
        env: [{ name: 'WHEREABOUTS_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
        volumeMounts: [{ name: 'schedule', mountPath: '/cron-schedule' }],
      },
    ],
    volumes: [{ name: 'schedule', configMap: { name: CONFIG, items: [{ key: 'cron-expression', path: 'config' }] } }],
  }
}
