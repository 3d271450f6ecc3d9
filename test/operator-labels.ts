/** Sets labels as openstack-operator's webhook does for a data plane service up to 18.0-fr4: it overwrites existing ones. */
import type { KubeObject } from '../src/api/object.ts'

export function setOperatorLabels(object: KubeObject): KubeObject {
  const labels = {
    ...object.metadata.labels,
    'app.kubernetes.io/name': 'openstackdataplaneservice',
    'app.kubernetes.io/instance': object.metadata.name,
    'app.kubernetes.io/part-of': 'openstack-operator',
  }
  return { ...object, metadata: { ...object.metadata, labels } }
}
