import { expect, it } from 'vitest'
import { hashConfigMap, hashSecret } from './content-hash.ts'

const object = (kind: string, fields: Readonly<Record<string, unknown>>) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'any' },
  ...fields,
})

// The expected values were printed by secret.Hash and configmap.Hash of lib-common v0.5.1-0.20250228124213-cd63da392f97.

it('hashSecret computes the hash that lib-common records in the status of a deployment', () => {
  const data = { 'nova.conf': 'W0RFRkFVTFRdCg==', A: '//4A' }
  expect(hashSecret(object('Secret', { type: 'Opaque', data }))).toBe(
    'n545h98h549h5b4h694hbfh56dh66fhf6h7chc7h6hc6h678hbbh59bh8hfh5f5h586h5b4h55dh66dh5c9hd6h54dh5d6h57fhdchb6h65ch5b5q',
  )
  expect(hashSecret(object('Secret', { type: 'kubernetes.io/tls' }))).toBe(
    'ndbh5h67bh9fh57ch669h5d7h558h686h5b6h548h589h5b5hc5h5dfh5b4h676h675h688h6h76h699h5fh76h589h98h5ch547h55fh566h56bh84q',
  )
})

it('hashSecret does not depend on metadata or on the order of keys', () => {
  const data = { A: '//4A', 'nova.conf': 'W0RFRkFVTFRdCg==' }
  const secret = object('Secret', { data, type: 'Opaque' })
  const labelled = { ...secret, metadata: { name: 'other', labels: { a: 'b' } } }
  expect(hashSecret(labelled)).toBe(hashSecret(object('Secret', { type: 'Opaque', data })))
})

it('hashSecret is unknown for a dump without values', () => {
  expect(hashSecret(object('Secret', { type: 'Opaque', data: { password: 'given' } }))).toBeUndefined()
})

it('hashConfigMap computes the hash of lib-common, with the characters that Go escapes', () => {
  const data = { b: 'x < y && z > 1\t"q"\\\u2028é\b\f\u0001', a: '' }
  expect(hashConfigMap(object('ConfigMap', { data, binaryData: { k: 'aGk=' } }))).toBe(
    'nb9h5bfh65h5bchf4h695h99h5c9h68bh5f5h5c8h6ch5dfh5cbh67fh68h95h5fh57ch8bh59bh649h686h54bh88h56bhbchdch59dh584h66ch65fq',
  )
  expect(hashConfigMap(object('ConfigMap', {}))).toBe(
    'nbdh5fh555h5b7hd9h5cfh547h57dh5chc4h5c7h66h68ch676h544h59dh58dh695hcfh5f8h75h675h56bh575h5bh5f6hfbh68bh6dh5c4h699h57dq',
  )
})
