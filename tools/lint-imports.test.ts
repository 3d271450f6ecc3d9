import { describe, expect, it } from 'vitest'
import { importRules, reachable } from './import-rules.ts'
import { findWrongImports } from './lint-imports.ts'

describe('import directions', () => {
  it('refuses an import against the direction, with file, line and both folders', () => {
    const text = "import a from 'node:fs'\nimport {\n  b,\n} from '../kube/transport.ts'\n"
    expect(findWrongImports('src/plan/x.ts', text)).toEqual([
      { file: 'src/plan/x.ts', line: 2, reason: 'src/plan may not import src/kube' },
    ])
  })

  it('sees dynamic imports and re-exports too', () => {
    const text = "export { a } from '../deploy/a.ts'\nconst b = await import('../cli/b.ts')\n"
    expect(findWrongImports('src/render/x.ts', text).map((wrongImport) => wrongImport.reason)).toEqual([
      'src/render may not import src/deploy',
      'nobody imports src/cli',
    ])
  })

  it('lets types through where only types are allowed', () => {
    expect(findWrongImports('src/kube/x.ts', "import type { A } from '../api/object.ts'\n")).toEqual([])
    expect(findWrongImports('src/kube/x.ts', "import { a } from '../api/object.ts'\n")).toHaveLength(1)
  })

  it('wants a rule for every folder', () => {
    expect(findWrongImports('src/novel/x.ts', '')).toHaveLength(1)
  })

  it('has no circle, so there is always a lower folder', () => {
    for (const folder of Object.keys(importRules)) expect(reachable(folder).has(folder)).toBe(false)
  })

  it('uses the rule of a sub-folder where there is one', () => {
    const definitions = "import { a } from '../dataplane/service-definitions/all.ts'\n"
    expect(findWrongImports('src/sandbox/x.ts', definitions)).toEqual([])
    expect(findWrongImports('src/sandbox/x.ts', "import { a } from '../dataplane/operator-part.ts'\n")).toHaveLength(1)
    expect(findWrongImports('src/dataplane/kinds/x.ts', "import { a } from '../runs/hash.ts'\n")).toEqual([
      { file: 'src/dataplane/kinds/x.ts', line: 1, reason: 'src/dataplane/kinds may not import src/dataplane' },
    ])
  })

  it('keeps the actors of the sandbox away from plan and render', () => {
    expect(findWrongImports('src/sandbox/actors/x.ts', "import { a } from '../../plan/a.ts'\n")).toHaveLength(1)
  })
})
