/**
 * Runs actions of the page: each is a command of this program in a process of its own, with the same options.
 *
 * What a terminal asks before `up` and `down` is asked by the page: the first request only shows what would happen.
 */
import { randomUUID } from 'node:crypto'
import type { ActionRequest, ActionState } from './documents/actions.ts'
import { commandLine } from './views/view-input.ts'

export interface ActionRunner {
  readonly list: () => readonly ActionState[]
  /** Undefined for an action that does not exist. */
  readonly start: (action: string, request: ActionRequest) => Promise<ActionState | undefined>
}

export interface ActionRunnerOptions {
  readonly fileOptions: readonly string[]
  readonly clusterOptions: readonly string[]
  readonly hasSite: boolean
  /** Runs the program and calls with what it prints; resolves with the exit code. */
  readonly execute: (words: readonly string[], onOutput: (text: string) => void) => Promise<number>
  readonly onChange: (state: ActionState) => void
}

type ActionName = ActionState['action']
const names: readonly ActionName[] = ['plan', 'verify', 'doctor', 'diff', 'up', 'down']
const MAX_OUTPUT = 256 << 10
const MAX_ACTIONS = 50

export function createActionRunner(options: ActionRunnerOptions): ActionRunner {
  const { execute, onChange } = options
  const states = new Map<string, ActionState>()
  /** What a confirmation allows: exactly the command that was shown. */
  const questions = new Map<string, readonly string[]>()
  const save = (state: ActionState): ActionState => {
    states.set(state.id, state)
    for (const id of [...states.keys()].slice(0, -MAX_ACTIONS)) states.delete(id)
    onChange(state)
    return state
  }
  const run = (
    action: ActionName,
    words: readonly string[],
    then: (code: number) => Partial<ActionState>,
  ): ActionState => {
    const id = randomUUID()
    let state = save({ id, action, command: commandLine(...words), state: 'running', output: '' })
    const finish = (exitCode: number): void => {
      const isDone = exitCode === 0
      state = save({ ...state, exitCode, state: isDone ? 'done' : 'failed', ...then(exitCode) })
    }
    void execute(words, (text) => {
      state = save({ ...state, output: `${state.output}${text}`.slice(-MAX_OUTPUT) })
    }).then(finish, () => finish(2))
    return state
  }
  const isBusy = (): boolean =>
    [...states.values()].some(({ action, state }) => state === 'running' && (action === 'up' || action === 'down'))

  return {
    list: () => [...states.values()].toReversed(),
    start: async (name, { clouds = [], confirm }) => {
      const action = names.find((known) => known === name)
      if (!action || (!options.hasSite && action !== 'doctor')) return undefined
      const words = actionWords(action, clouds, options)
      if (action !== 'up' && action !== 'down') return run(action, words, () => ({}))
      if (confirm === undefined) {
        return run(action, [...words, '--dry-run'], (code) => {
          if (code !== 0) return {}
          const nonce = randomUUID()
          questions.clear()
          questions.set(nonce, words)
          return { state: 'asks', ...askFor(action, clouds), confirm: nonce }
        })
      }
      const asked = questions.get(confirm)
      const isSame = asked !== undefined && commandLine(...asked) === commandLine(...words)
      if (!isSame || isBusy()) {
        const reason = isSame ? 'another run is active' : 'this was not asked, or it was confirmed before'
        return save({
          id: randomUUID(),
          action,
          command: commandLine(...words),
          state: 'failed',
          output: `${reason}\n`,
        })
      }
      questions.delete(confirm)
      return run(action, [...words, '--yes', '--events', 'lines'], () => ({}))
    },
  }
}

function actionWords(
  action: ActionName,
  clouds: readonly string[],
  { fileOptions, clusterOptions }: Pick<ActionRunnerOptions, 'fileOptions' | 'clusterOptions'>,
): readonly string[] {
  const selected = clouds.flatMap((cloud) => ['--cloud', cloud])
  if (action === 'plan') return ['plan', ...fileOptions]
  if (action === 'down')
    return ['down', ...fileOptions, ...clusterOptions, ...(clouds.length > 0 ? selected : ['--all'])]
  return [action, ...fileOptions, ...clusterOptions, ...(action === 'doctor' ? [] : selected)]
}

/** As `up` and `down` ask on a terminal: what cannot be undone is confirmed by its name. */
function askFor(action: 'up' | 'down', clouds: readonly string[]): Pick<ActionState, 'question' | 'type'> {
  if (action === 'up') return { question: 'Apply these changes?' }
  return clouds.length > 0
    ? { question: `Take down ${clouds.join(', ')}? This deletes what is listed.`, type: clouds.join(' ') }
    : { question: 'Take every cloud down? This deletes what is listed.', type: 'all' }
}
