import { describe, expect, it } from 'vitest'
import { importRules, reachable } from './import-rules.ts'
import { findWrongImports } from './lint-imports.ts'

const reasons = (file: string, text: string) => findWrongImports(file, text).map(({ reason }) => reason)

describe('the import lint', () => {
  it('refuses an import against the direction, with file, line and both folders', () => {
    const text = "import a from 'node:fs'\nimport {\n  b,\n} from '../kube/transport.ts'\n"
    expect(findWrongImports('src/plan/x.ts', text)).toEqual([
      { file: 'src/plan/x.ts', line: 2, reason: 'src/plan may not import src/kube' },
    ])
  })

  it('checks dynamic imports and re-exports', () => {
    const text = "export { a } from '../deploy/a.ts'\nconst b = await import('../cli/b.ts')\n"
    expect(reasons('src/render/x.ts', text)).toEqual([
      'src/render may not import src/deploy',
      'no folder may import src/cli',
    ])
  })

  it('lets tests import the command line', () => {
    expect(reasons('src/render/x.test.ts', "import { main } from '../cli/main.ts'\n")).toEqual([])
  })

  it('allows `import type` where only types are allowed', () => {
    expect(reasons('src/dataplane/x.ts', "import type { A } from '../operator/a.ts'\n")).toEqual([])
    expect(reasons('src/dataplane/x.ts', "import { a } from '../operator/a.ts'\n")).toHaveLength(1)
  })

  it('gives a folder inside another one its own rule', () => {
    expect(reasons('src/dataplane/kinds/x.ts', "import { a } from '../nodes/a.ts'\n")).toEqual([
      'src/dataplane/kinds may not import src/dataplane',
    ])
    expect(reasons('src/dataplane/nodes/x.ts', "import { a } from '../kinds/a.ts'\n")).toEqual([])
    expect(reasons('src/sandbox/x.ts', "import { a } from '../dataplane/nodes/a.ts'\n")).toHaveLength(1)
  })

  it('requires a rule for every folder', () => {
    expect(reasons('src/novel/x.ts', '')).toHaveLength(1)
  })

  it('has no cycle in its rules', () => {
    for (const folder of Object.keys(importRules)) expect(reachable(folder).has(folder)).toBe(false)
  })

  it('keeps the actors of the sandbox independent of plan and render', () => {
    expect(reasons('src/sandbox/actors/x.ts', "import { a } from '../../plan/a.ts'\n")).toHaveLength(1)
  })
})
