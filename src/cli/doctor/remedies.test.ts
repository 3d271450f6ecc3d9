import { expect, it } from 'vitest'
import { cloudStages, sharedStages } from '../../deploy/stage-table.ts'
import { rules } from '../../doctor/rules.ts'
import { commands } from '../commands.ts'
import { catalogue } from '../explain/catalogue.ts'

const remedies = rules.map(({ id, problem }) => [id, catalogue.get(problem.code)?.sample.remedy ?? ''] as const)

it('remedies refer to existing commands and stages', () => {
  const known = new Set(commands.map(({ name }) => name))
  const stages = new Set<string>([...sharedStages, ...cloudStages])
  const wrong = remedies.flatMap(([id, remedy]) =>
    [
      ...[...remedy.matchAll(/\bstackloom ([a-z]+)/g)].filter(([, name = '']) => !known.has(name)),
      ...[...remedy.matchAll(/--stage ([a-z-]+)/g)].filter(([, name = '']) => !stages.has(name)),
    ].map(([text]) => `${id}: ${text}`),
  )
  expect(wrong).toEqual([])
})
