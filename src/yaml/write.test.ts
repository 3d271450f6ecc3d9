import fc from 'fast-check'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { json, nastyText } from '../../test/yaml-values.ts'
import { writeYaml, writeYamlStream } from './write.ts'

describe('writeYaml', () => {
  it('formats as kubectl does', () => {
    const value = {
      apiVersion: 'metallb.io/v1beta1',
      metadata: { name: 'openstack-internalapi', labels: {}, finalizers: [] },
      spec: { addresses: ['172.17.0.80-172.17.0.90', 'fd00:bbbb::80-fd00:bbbb::90'], autoAssign: false },
      list: [{ a: 1, b: [[1, 2], []] }, 'no', null],
      absent: undefined,
      config: '{\n  "type": "macvlan"\n}\n',
    }
    expect(writeYaml(value)).toBe(`apiVersion: metallb.io/v1beta1
metadata:
  name: openstack-internalapi
  labels: {}
  finalizers: []
spec:
  addresses:
  - 172.17.0.80-172.17.0.90
  - fd00:bbbb::80-fd00:bbbb::90
  autoAssign: false
list:
- a: 1
  b:
  - - 1
    - 2
  - []
- "no"
- null
config: |
  {
    "type": "macvlan"
  }
`)
  })

  it.each(nastyText)('quotes what another parser would read as another type: %j', (text) => {
    expect(parse(writeYaml({ [text]: text }))).toEqual({ [text]: text })
    expect(parse(writeYaml([text]), { version: '1.1' })).toEqual([text])
    expect(load(writeYaml([text]))).toEqual([text])
  })

  it('is read back unchanged by YAML 1.2 and YAML 1.1 parsers (property)', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = writeYaml(value)
        expect(parse(text)).toEqual(value)
        expect(parse(text, { version: '1.1' })).toEqual(value)
      }),
    )
  })

  it('writes streams that can be concatenated', () => {
    const stream = writeYamlStream([{ a: 1 }]) + writeYamlStream(['|', { b: '---\n' }])
    const documents = parseAllDocuments(stream)
    expect((documents as { toJS(): unknown }[]).map((document) => document.toJS())).toEqual([
      { a: 1 },
      '|',
      { b: '---\n' },
    ])
  })
})
