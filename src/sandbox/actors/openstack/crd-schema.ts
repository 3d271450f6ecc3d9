/** The schema of a control plane's `spec`, as the cluster's CRD has it: what the actors walk. */
import type { KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Schema } from './spec-schema.ts'

/** Fetched once: the schema is close to a megabyte. */
export function schemaReader(client: KubeClient): () => Promise<Schema> {
  let read: Promise<Schema> | undefined
  return () => {
    read ??= client
      .get({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: 'openstackcontrolplanes.core.openstack.org',
      })
      .then((crd) => specSchema(crd))
      .catch((thrown: unknown) => {
        read = undefined
        throw thrown
      })
    return read
  }
}

function specSchema(crd: KubeObject | undefined): Schema {
  const { versions: all = [] } = (crd?.['spec'] ?? {}) as {
    versions?: readonly { served: boolean; schema: { openAPIV3Schema: Schema } }[]
  }
  const schema = all.find(({ served }) => served)?.schema.openAPIV3Schema.properties?.['spec']
  if (!schema) throw new Error('the cluster has no CRD of OpenStackControlPlane')
  return schema
}
