/** SL400x: problems with the stages of a run and with their selection. */
import { problem } from '../errors/finding.ts'

export const unknownStage = problem<{ stage: string; known: readonly string[]; nearest: string | undefined }>({
  code: 'SL4001',
  severity: 'error',
  message: ({ stage, nearest }) => `no stage is called ${stage}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `the stages are ${known.join(', ')}`,
})

export const unknownCloud = problem<{
  cloud: string
  known: readonly string[]
  nearest: string | undefined
  /** What was given, if not the name. */
  by?: 'namespace'
}>({
  code: 'SL4002',
  severity: 'error',
  message: ({ cloud, nearest, by }) =>
    `the site has no cloud ${by ? `in ${by} ` : ''}${cloud}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known, by }) => `the ${by ? `${by}s of the clouds` : 'clouds'} are ${known.join(', ') || '(none)'}`,
})

export const nothingSelected = problem<object>({
  code: 'SL4003',
  severity: 'error',
  message: () => 'no stage is left to run: the options exclude each other',
  remedy: () => 'drop one of the options that choose stages: --from-stage, --until, --skip, --stage, --cloud',
})

export const stageCycle = problem<{ path: readonly string[] }>({
  code: 'SL4004',
  severity: 'error',
  message: ({ path }) => `these stages wait for each other: ${path.join(' -> ')}`,
  remedy: () => 'this is a defect of Stackloom: report it with the output of `stackloom stages`',
})

export const unknownPredecessor = problem<{ stage: string; predecessor: string }>({
  code: 'SL4005',
  severity: 'error',
  message: ({ stage, predecessor }) => `stage ${stage} waits for ${predecessor}, which is no stage`,
  remedy: () => 'this is a defect of Stackloom: report it with the output of `stackloom stages`',
})

export const duplicateStage = problem<{ stage: string }>({
  code: 'SL4006',
  severity: 'error',
  message: ({ stage }) => `two stages have the id ${stage}`,
  remedy: () => 'give the clouds different names',
})
