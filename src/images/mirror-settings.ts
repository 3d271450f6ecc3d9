/** Renders what a mirror needs: the configuration of oc-mirror, and the settings of data plane hosts that pull from it. Pure. */
import { groupBy } from '../api/collections.ts'
import type { CatalogPackage, SiteImage } from './collect-images.ts'
import { formatImage, type Mirror } from './image-reference.ts'

/** For `oc mirror --v2 -c FILE`. */
export function renderImageSet(images: readonly SiteImage[], packages: readonly CatalogPackage[]): object {
  const operators = [...groupBy(packages, ({ catalog }) => catalog)].map(([catalog, ofCatalog]) => ({
    catalog,
    packages: [...groupBy(ofCatalog, (entry) => entry.package)].map(([name, versions]) => {
      const channels = versions.flatMap(({ channel }) => (channel === undefined ? [] : [{ name: channel }]))
      return { name, ...(channels.length > 0 && { channels }) }
    }),
  }))
  // Without its package a catalog brings none of its images, so these are listed one by one.
  const additionalImages = images
    .filter(({ inCatalog }) => !inCatalog || operators.length === 0)
    .map(({ image }) => ({ name: formatImage(image) }))
  return {
    apiVersion: 'mirror.openshift.io/v2alpha1',
    kind: 'ImageSetConfiguration',
    mirror: { ...(operators.length > 0 && { operators }), ...(additionalImages.length > 0 && { additionalImages }) },
  }
}

/** containers-registries.conf: every registry of the images, with the mirror in front of it. */
export function renderRegistriesConf(images: readonly SiteImage[], { registry, prefix }: Mirror): string {
  const location = prefix === undefined ? registry : `${registry}/${prefix}`
  const sources = [...new Set(images.map(({ image }) => image.registry))].filter((source) => source !== registry)
  return sources
    .toSorted()
    .map((source) => `[[registry]]\nlocation = "${source}"\n\n[[registry.mirror]]\nlocation = "${location}"\n`)
    .join('\n')
}

/** Variables of edpm-ansible; where the cluster is OpenShift, the operator sets both from its MachineConfig. */
export function renderHostVariables(images: readonly SiteImage[], mirror: Mirror): object {
  return {
    edpm_podman_disconnected_ocp: true,
    edpm_podman_registries_conf: renderRegistriesConf(images, mirror),
  }
}
