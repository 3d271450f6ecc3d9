import fc from 'fast-check'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { json, nastyText } from '../../test/yaml-values.ts'
import { writeYaml, writeYamlStream } from './write.ts'

describe('writing YAML', () => {
  it('looks like what kubectl prints', () => {
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

  it.each(nastyText)('quotes what another reader would take for something else: %j', (text) => {
    expect(parse(writeYaml({ [text]: text }))).toEqual({ [text]: text })
    expect(parse(writeYaml([text]), { version: '1.1' })).toEqual([text])
    expect(load(writeYaml([text]))).toEqual([text])
  })

  it('is read back as what was written, by readers of YAML 1.2 and of YAML 1.1', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = writeYaml(value)
        expect(parse(text)).toEqual(value)
        expect(parse(text, { version: '1.1' })).toEqual(value)
      }),
    )
  })

  it('writes streams that can be joined', () => {
    const stream = writeYamlStream([{ a: 1 }]) + writeYamlStream(['|', { b: '---\n' }])
    const documents = parseAllDocuments(stream)
    expect((documents as { toJS(): unknown }[]).map((document) => document.toJS())).toEqual([
      { a: 1 },
      '|',
      { b: '---\n' },
    ])
  })
})
