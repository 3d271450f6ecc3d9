/**
 * Defines the kinds that OpenShift itself serves and that no pinned module has: Tuned of the Node Tuning Operator.
 *
 * Only the fields that Stackloom writes, so a strict API server refuses any other.
 */
import type { KubeObject } from '../../api/object.ts'

/** OpenShift creates it; objects of the kind are ignored elsewhere. */
export const TUNED_NAMESPACE = 'openshift-cluster-node-tuning-operator'

const text = { type: 'string' }
const condition = { label: text, value: text }

const tunedSpec = {
  type: 'object',
  properties: {
    profile: {
      type: 'array',
      items: { type: 'object', required: ['data', 'name'], properties: { name: text, data: text } },
    },
    recommend: {
      type: 'array',
      items: {
        type: 'object',
        required: ['priority', 'profile'],
        properties: {
          profile: text,
          priority: { type: 'integer', format: 'int64', minimum: 0 },
          match: {
            type: 'array',
            items: {
              type: 'object',
              required: ['label'],
              properties: {
                ...condition,
                match: { type: 'array', items: { type: 'object', required: ['label'], properties: condition } },
              },
            },
          },
        },
      },
    },
  },
}

const tuned: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'tuneds.tuned.openshift.io' },
  spec: {
    group: 'tuned.openshift.io',
    names: { kind: 'Tuned', listKind: 'TunedList', plural: 'tuneds', singular: 'tuned' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: tunedSpec } } },
      },
    ],
  },
}

export const platformCrds: readonly KubeObject[] = [tuned]
