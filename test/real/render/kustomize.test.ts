/** Tests that kustomize builds the tree, and PyYAML reads the stream, without a difference. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { writeTree } from '../../../src/cli/render/write-tree.ts'
import { sortByLayer } from '../../../src/render/gitops/layers.ts'
import { annotateForTool, type GitopsTool, gitopsTree } from '../../../src/render/gitops/tree.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { writeYamlStream } from '../../../src/yaml/write.ts'
import { exampleSites, planExample } from '../../examples.ts'
import { sandboxContext } from '../../sandbox-context.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-kustomize-'))
afterAll(() => rmSync(folder, { recursive: true }))

let kubectl: string
beforeAll(async () => {
  kubectl = (await ensurePrograms(['kubectl'], sandboxContext())).kubectl
})

describe('kubectl kustomize', () => {
  it.each([
    ['two-clouds', undefined],
    ['five-clouds-bgp', 'argocd'],
    ['every-service', 'flux'],
  ] as const)('makes the stream out of the tree of %s', async (name, tool?: GitopsTool) => {
    const plan = planExample(name)
    const documents = renderDocuments(plan)
    const root = path.join(folder, name)
    await writeTree(root, gitopsTree(plan, documents, tool))
    const built = execFileSync(kubectl, ['kustomize', root], { encoding: 'utf8', maxBuffer: 1 << 28 })
    const stream = sortByLayer(annotateForTool(documents, tool)).map(({ object }) => object)
    expect(loadAll(built)).toEqual(stream)
  })
})

const READ = `
import json, sys, yaml
json.dump(list(yaml.safe_load_all(sys.stdin.buffer.read().decode('utf-8'))), sys.stdout)
`

describe('PyYAML', () => {
  beforeEach((context) => {
    if (spawnSync('python3', ['-c', 'import yaml']).status !== 0) context.skip('python3 has no yaml module here')
  })

  it.each(exampleSites)('reads the stream of %s without a difference', (name) => {
    const objects = renderDocuments(planExample(name)).map(({ object }) => object)
    const { stdout } = spawnSync('python3', ['-c', READ], {
      input: writeYamlStream(objects),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    expect(JSON.parse(stdout)).toEqual(objects)
  })
})
