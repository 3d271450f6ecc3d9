/** Renders the volumes of the nodes: folders of this machine, which claims of the class `local-storage` get. Pure. */
import type { KubeObject } from '../../api/object.ts'
import type { NodeLayout } from './node-layout.ts'

const STORAGE_CLASS = 'local-storage'
const VOLUMES_PER_NODE = 20
/** Not enforced: the volumes share the disk of this machine. */
const CAPACITY = '100Gi'

/** Folders below the node's folder for volumes. */
export const volumeFolders: readonly string[] = Array.from(
  { length: VOLUMES_PER_NODE },
  (_, index) => `volume-${index}`,
)

export const localStorage: KubeObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: STORAGE_CLASS,
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: 'kubernetes.io/no-provisioner',
  // A claim is bound where its pod runs.
  volumeBindingMode: 'WaitForFirstConsumer',
}

export function volumeObjects({ nodes }: NodeLayout): readonly KubeObject[] {
  return [localStorage, ...nodes.flatMap(({ name }) => volumeFolders.map((folder) => volume(name, folder)))]
}

function volume(node: string, folder: string): KubeObject {
  const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${node}-${folder}` },
    spec: {
      capacity: { storage: CAPACITY },
      accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: STORAGE_CLASS,
      local: { path: `/var/lib/stackloom/volumes/${folder}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } },
    },
  }
}
