/** PyYAML is the YAML 1.1 reader that our users' other tools (Ansible among them) read with. */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writeYamlStream } from '../../../src/yaml/write.ts'
import { count } from '../../counts.ts'
import { json, nastyText } from '../../yaml-values.ts'

const READ = `
import json, sys, yaml
text = sys.stdin.buffer.read().decode('utf-8')
json.dump([document for document in yaml.safe_load_all(text)], sys.stdout)
`

/** One start of Python for all values: what each of them is to `yaml.safe_load`. */
function readWithPyYaml(values: readonly unknown[]): unknown {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', READ], {
    input: writeYamlStream(values),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return JSON.parse(stdout)
}

const available = spawnSync('python3', ['-c', 'import yaml']).status === 0

describe('YAML written by Stackloom and read by PyYAML', () => {
  it('is the same text, as a value and as a key', (context) => {
    if (!available) context.skip('python3 has no yaml module here')
    const values = nastyText.map((text) => ({ value: text, list: [text], [text]: { [text]: text } }))
    expect(readWithPyYaml(values)).toEqual(values)
  })

  it('is the same value, for any value', (context) => {
    if (!available) context.skip('python3 has no yaml module here')
    const values = fc.sample(json, count({ test: 1000, soak: 50_000 }))
    const read = readWithPyYaml(values) as readonly unknown[]
    for (const [index, value] of values.entries()) expect(read[index]).toEqual(value)
  })
})
