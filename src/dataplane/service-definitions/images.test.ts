import { describe, expect, it } from 'vitest'
import type { ServiceObject } from '../kinds/service-object.ts'
import { checkServiceObject } from '../rules/service-object.ts'
import { nodeServices } from './all.ts'

const fields = nodeServices.flatMap((definition) =>
  Object.keys(definition.images).map((field) => ({ definition, field })),
)

function codesWith(image: string): readonly (readonly string[])[] {
  return fields.map(({ definition, field }) => {
    const { group, version, kind } = definition.crd
    const service = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'a' }, spec: { [field]: image } }
    return checkServiceObject(service as ServiceObject, definition).map(({ finding }) => finding.code)
  })
}

describe('the image of a service', () => {
  it.each([
    'image\nPodmanArgs=--volume=/:/host',
    'image\r[Service]\rExecStartPre=/bin/id',
    'image --privileged',
    'image\\',
    '%h/image',
    '$HOME/image',
    '"image"',
    "'image'",
    '{{ lookup("pipe", "id") }}',
    '-v/:/host',
    ';image',
    '#image',
    'image\u2028x',
    'a'.repeat(2_000),
  ])('%j is refused in every field, because it becomes a line of a unit', (image) => {
    for (const codes of codesWith(image)) expect(codes).toEqual(['SL7133'])
  })

  it.each([
    'image',
    'quay.io/podified-antelope-centos9/openstack-nova-compute:current-podified',
    'registry.example.com:5000/a/b_c/d@sha256:0123456789abcdef',
    '[2001:db8::1]:5000/a:1.0',
  ])('%s is accepted', (image) => {
    for (const codes of codesWith(image)) expect(codes).toEqual([])
  })
})
