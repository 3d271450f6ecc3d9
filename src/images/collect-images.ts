/** Lists the images of a site: of the clouds, of the operators and their catalogs, from a snapshot and from rendered objects. Pure. */
import { asRecord, asString } from '../api/json.ts'
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { formatObjectName, getField, getList, getString } from '../api/raw-object.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { invalidImage } from './findings.ts'
import { formatImage, type ImageReference, parseImage } from './image-reference.ts'

export const imageKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' },
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion' },
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'CatalogSource' },
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'Subscription' },
]

export interface SiteImage {
  readonly image: ImageReference
  /** `OpenStackVersion openstack/controlplane novaAPIImage`, … */
  readonly usedBy: readonly string[]
  /** oc-mirror gets it from its catalog; the others must be listed. */
  readonly inCatalog: boolean
}

export interface ImageList {
  readonly images: readonly SiteImage[]
  readonly findings: readonly Finding[]
}

interface FoundImage {
  readonly text: string
  readonly usedBy: string
  readonly inCatalog: boolean
}

export function collectImages(objects: readonly KubeObject[]): ImageList {
  const findings: Finding[] = []
  const images = new Map<string, SiteImage>()
  for (const { text, usedBy, inCatalog } of objects.flatMap(findImages)) {
    const image = parseImage(text)
    if (!image) {
      findings.push(finding(invalidImage, { image: text.slice(0, 200), usedBy }))
      continue
    }
    const name = formatImage(image)
    const known = images.get(name)
    const users = [...new Set([...(known?.usedBy ?? []), usedBy])]
    images.set(name, { image, usedBy: users, inCatalog: inCatalog || (known?.inCatalog ?? false) })
  }
  const sorted = [...images].toSorted(([a], [b]) => a.localeCompare(b)).map(([, image]) => image)
  return { images: sorted, findings }
}

function findImages(object: KubeObject): readonly FoundImage[] {
  const name = formatObjectName(object)
  switch (object.kind) {
    case 'OpenStackVersion':
      return [
        ...listVersionImages(getField(object, 'status', 'containerImages'), name),
        ...listVersionImages(getField(object, 'spec', 'customContainerImages'), name),
      ]
    case 'ClusterServiceVersion':
      return getList(object, 'spec', 'relatedImages').flatMap((entry) => {
        const text = asString(asRecord(entry)['image'])
        return text === undefined ? [] : [{ text, usedBy: name, inCatalog: true }]
      })
    case 'CatalogSource': {
      const text = getString(object, 'spec', 'image')
      return text === undefined ? [] : [{ text, usedBy: name, inCatalog: true }]
    }
    default:
      return []
  }
}

/** A field is an image, or images by the name of a backend (`cinderVolumeImages`). */
function listVersionImages(fields: unknown, name: string): readonly FoundImage[] {
  return Object.entries(asRecord(fields)).flatMap(([field, value]) => {
    const values = typeof value === 'string' ? [value] : Object.values(asRecord(value))
    return values.flatMap((text) =>
      typeof text === 'string' ? [{ text, usedBy: `${name} ${field}`, inCatalog: false }] : [],
    )
  })
}

/** A package of a catalog, for oc-mirror. */
export interface CatalogPackage {
  readonly catalog: string
  readonly package: string
  readonly channel: string | undefined
}

/** Where Red Hat publishes the operators for a version of OpenShift. */
export function redHatCatalog(openshift: string): string {
  return `registry.redhat.io/redhat/redhat-operator-index:v${openshift}`
}

/** The packages of the Subscriptions; those of a catalog without a known image come from `otherCatalog`, if there is one. */
export function collectPackages(objects: readonly KubeObject[], otherCatalog?: string): readonly CatalogPackage[] {
  const catalogs = new Map(
    objects
      .filter(({ kind }) => kind === 'CatalogSource')
      .map((source) => [`${source.metadata.namespace}/${source.metadata.name}`, getString(source, 'spec', 'image')]),
  )
  const packages = objects
    .filter(({ kind }) => kind === 'Subscription')
    .flatMap((subscription): readonly CatalogPackage[] => {
      const { source, sourceNamespace, name, channel } = asRecord(subscription['spec'])
      const catalog = catalogs.get(`${String(sourceNamespace)}/${String(source)}`) ?? otherCatalog
      return catalog === undefined || typeof name !== 'string'
        ? []
        : [{ catalog, package: name, channel: asString(channel) }]
    })
  return [...new Map(packages.map((entry) => [JSON.stringify(entry), entry])).values()]
}
