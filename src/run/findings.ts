/** SL400x: problems with the stages of a run and with their selection. */
import { problem } from '../errors/finding.ts'

export const unknownStage = problem<{ stage: string; known: readonly string[]; nearest: string | undefined }>({
  code: 'SL4001',
  severity: 'error',
  title: 'There is no stage of this name',
  message: ({ stage, nearest }) => `no stage is called ${stage}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `the stages are ${known.join(', ')}`,
  description: `\`--stage\`, \`--from\`, \`--until\` and \`--skip\` take the name of a stage, which means that stage of
every cloud (\`netattach\`), or its id, which means the stage of one cloud (\`rhoso1/netattach\`). Nothing was done.`,
  example: { stage: 'netatach', known: ['namespace', 'netattach', 'control-plane'], nearest: 'netattach' },
})

export const unknownCloud = problem<{ cloud: string; known: readonly string[]; nearest: string | undefined }>({
  code: 'SL4002',
  severity: 'error',
  title: 'The site has no cloud of this name',
  message: ({ cloud, nearest }) => `the site has no cloud ${cloud}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `the clouds are ${known.join(', ') || '(none)'}`,
  description: `\`--cloud\` takes the name of a cloud in the site file, not its namespace. Nothing was done.`,
  example: { cloud: 'rhosso2', known: ['rhoso1', 'rhoso2'], nearest: 'rhoso2' },
})

export const nothingSelected = problem<object>({
  code: 'SL4003',
  severity: 'error',
  title: 'The options leave no stage to run',
  message: () => 'no stage is left to run: the options exclude each other',
  remedy: () => 'drop one of the options that choose stages: --from, --until, --skip, --stage, --cloud',
  description: `Each option narrows the selection: \`--stage control-plane --until netattach\` selects a stage that comes
after the last one that may run. Nothing was done.`,
  example: {},
})

export const stageCycle = problem<{ path: readonly string[] }>({
  code: 'SL4004',
  severity: 'error',
  title: 'Stages wait for each other in a circle',
  message: ({ path }) => `these stages wait for each other: ${path.join(' -> ')}`,
  remedy: () => 'this is a defect of Stackloom: report it with the output of `stackloom stages`',
  description: `Stages form a graph without cycles, which is checked before a run starts. Nothing was done.`,
  example: { path: ['nncp', 'metallb', 'nncp'] },
})

export const unknownPredecessor = problem<{ stage: string; predecessor: string }>({
  code: 'SL4005',
  severity: 'error',
  title: 'A stage waits for one that does not exist',
  message: ({ stage, predecessor }) => `stage ${stage} waits for ${predecessor}, which is no stage`,
  remedy: () => 'this is a defect of Stackloom: report it with the output of `stackloom stages`',
  description: `A run that waits for a stage that never comes would never end, so it is refused before it starts. Nothing
was done.`,
  example: { stage: 'rhoso1/netattach', predecessor: 'rhoso1/namespce' },
})

export const duplicateStage = problem<{ stage: string }>({
  code: 'SL4006',
  severity: 'error',
  title: 'Two stages have the same id',
  message: ({ stage }) => `two stages have the id ${stage}`,
  remedy: () => 'give the clouds different names',
  description: `The id of a stage consists of its cloud's name and its own. Two stages with one id cannot be distinguished in
the output, so the run does not start.`,
  example: { stage: 'rhoso1/netattach' },
})
