/** The names of the CRD sets, as `--crds` takes them. */

export const crdSets = ['today', '2023', 'own', 'own-2023', 'none'] as const
export type CrdSet = (typeof crdSets)[number]
