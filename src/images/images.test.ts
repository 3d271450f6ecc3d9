import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { collectImages, collectPackages } from './collect-images.ts'
import { formatImage, mirrorImage, parseImage, parseMirror } from './image-reference.ts'
import { renderHostVariables, renderImageSet, renderRegistriesConf } from './mirror-settings.ts'

const digest = `sha256:${'a'.repeat(64)}`
const version: KubeObject = {
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackVersion',
  metadata: { name: 'controlplane', namespace: 'openstack' },
  spec: { customContainerImages: { cinderVolumeImages: { netapp: `registry.example.com/netapp/volume@${digest}` } } },
  status: {
    containerImages: {
      novaAPIImage: `registry.redhat.io/rhoso/openstack-nova-api-rhel9@${digest}`,
      keystoneAPIImage: 'not an image',
    },
  },
}
const olm = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind,
  metadata: { name, namespace: 'openstack-operators' },
  spec,
})
const objects = [
  version,
  olm('ClusterServiceVersion', 'openstack-operator.v1', {
    relatedImages: [{ name: 'x', image: `registry.redhat.io/rhoso-operators/nova@${digest}` }],
  }),
  olm('CatalogSource', 'cs', { image: 'registry.example.com/index:18' }),
  olm('Subscription', 'openstack', {
    name: 'openstack-operator',
    channel: 'stable-v1.0',
    source: 'cs',
    sourceNamespace: 'openstack-operators',
  }),
]

describe('images', () => {
  it.each([
    ['busybox:1.37', 'docker.io/library/busybox:1.37'],
    ['quay.io/a/b', 'quay.io/a/b:latest'],
    [`localhost:5000/a@${digest}`, `localhost:5000/a@${digest}`],
    [`registry.redhat.io/rhoso/x:1@${digest}`, `registry.redhat.io/rhoso/x@${digest}`],
  ])('%s is %s', (text, name) => {
    const image = parseImage(text)
    expect(image && formatImage(image)).toBe(name)
  })

  it.each(['', 'a b', 'quay.io/../x', 'quay.io/A/b', 'quay.io/a@sha256:1', 'https://quay.io/a'])(
    '%s is none',
    (text) => {
      expect(parseImage(text)).toBeUndefined()
    },
  )

  it('come from versions, operators and catalogs, each with its users', () => {
    const { images, findings } = collectImages(objects)
    expect(images.map(({ image }) => formatImage(image))).toEqual([
      'registry.example.com/index:18',
      `registry.example.com/netapp/volume@${digest}`,
      `registry.redhat.io/rhoso-operators/nova@${digest}`,
      `registry.redhat.io/rhoso/openstack-nova-api-rhel9@${digest}`,
    ])
    expect(images[1]?.usedBy).toEqual(['OpenStackVersion openstack/controlplane cinderVolumeImages'])
    expect(findings.map(({ code }) => code)).toEqual(['SL4150'])
    expect(collectImages([])).toEqual({ images: [], findings: [] })
  })
})

describe('a mirror', () => {
  const { images } = collectImages(objects)

  it('keeps the repository behind its own address', () => {
    const mirror = parseMirror('registry.local:5000/mirror')
    const image = parseImage('registry.redhat.io/rhoso/x:1')
    expect(mirror && image && formatImage(mirrorImage(mirror, image))).toBe('registry.local:5000/mirror/rhoso/x:1')
    expect(parseMirror('https://registry.local')).toBeUndefined()
  })

  it('is filled by packages of catalogs and by single images', () => {
    expect(renderImageSet(images, collectPackages(objects))).toEqual({
      apiVersion: 'mirror.openshift.io/v2alpha1',
      kind: 'ImageSetConfiguration',
      mirror: {
        operators: [
          {
            catalog: 'registry.example.com/index:18',
            packages: [{ name: 'openstack-operator', channels: [{ name: 'stable-v1.0' }] }],
          },
        ],
        additionalImages: [
          { name: `registry.example.com/netapp/volume@${digest}` },
          { name: `registry.redhat.io/rhoso/openstack-nova-api-rhel9@${digest}` },
        ],
      },
    })
  })

  it('is in front of every registry on the hosts', () => {
    const conf = renderRegistriesConf(images, { registry: 'registry.local:5000', prefix: 'mirror' })
    expect(conf).toBe(
      ['registry.example.com', 'registry.redhat.io']
        .map(
          (source) =>
            `[[registry]]\nlocation = "${source}"\n\n[[registry.mirror]]\nlocation = "registry.local:5000/mirror"\n`,
        )
        .join('\n'),
    )
    expect(renderHostVariables(images, { registry: 'registry.local:5000', prefix: 'mirror' })).toEqual({
      edpm_podman_disconnected_ocp: true,
      edpm_podman_registries_conf: conf,
    })
  })
})
