/**
 * Adds to an offered command the file and the cluster of the command that offers it, so that it can be pasted.
 *
 * Pure. Must not know what the commands do.
 */
import { formatShellCommand } from './shell-words.ts'

/** Options as words; empty where the defaults hold. */
export interface CommandTarget {
  readonly file: readonly string[]
  readonly cluster: readonly string[]
  /** The file is that of a lab, which the commands of sites do not read. */
  readonly isLab: boolean
}

type Part = 'file' | 'cluster'

const partsByNames: readonly (readonly [names: string, parts: readonly Part[]])[] = [
  ['plan slots diff up down access adopt update backup ip capacity doctor verify console', ['file', 'cluster']],
  ['ip-audit images-list images-image-set images-host-settings images-check', ['file', 'cluster']],
  ['dns-hosts dataplane-convert', ['file', 'cluster']],
  ['init render rehearse netbox-diff netbox-export sandbox-start', ['file']],
  ['lab-init lab-check lab-render lab-up lab-status lab-doctor lab-backup lab-down', ['file']],
  ['lab-snapshot-create lab-snapshot-apply lab-snapshot-list', ['file']],
  ['import status hosts certificates restore ip-repair ipam-status dns-status config-explain', ['cluster']],
  ['hosts-deploy hosts-remove hosts-drain hosts-enable', ['cluster']],
  ['operator-install operator-uninstall operator-run', ['cluster']],
]

/** Which of these options each command has, by its words with `-` between them; a test compares the definitions. */
export const targetParts: ReadonlyMap<string, readonly Part[]> = new Map(
  partsByNames.flatMap(([names, parts]) => names.split(' ').map((name) => [name, parts] as const)),
)

const optionParts: Readonly<Record<string, Part>> = {
  '-f': 'file',
  '--file': 'file',
  '--lock': 'file',
  '--kubeconfig': 'cluster',
  '--context': 'cluster',
}

/** Of a command line without the name of the program. */
export function readTarget(words: readonly string[]): CommandTarget {
  const target = { file: [] as string[], cluster: [] as string[], isLab: words[0] === 'lab' }
  for (const [index, word] of words.entries()) {
    const [, name = '', attached] = /^(--[\w-]+|-f)(?:=?(.+))?$/.exec(word) ?? []
    const value = attached ?? words[index + 1]
    const part = optionParts[name]
    // The default needs no option, and what came from stdin cannot be read twice.
    const isUsual = part === 'file' && ['-', target.isLab ? 'lab.yaml' : 'site.yaml'].includes(value ?? '-')
    if (part && value !== undefined && !isUsual) target[part].push(name, value)
  }
  return target
}

/** Commands of kubectl, oc and this program in a line of a shell; others stay as they are. */
export function aimCommand(line: string, target: CommandTarget): string {
  return line.replace(/(?:'[^']*'|[^'|;])+/g, (part) => {
    const [, before = '', command = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(part) ?? []
    return `${before}${aimOne(command, target)}${after}`
  })
}

/** The commands that a sentence has between backticks. */
export function aimCommands(sentence: string, target: CommandTarget): string {
  return sentence.replace(/`([^`]+)`/g, (_, line: string) => `\`${aimCommand(line, target)}\``)
}

function aimOne(command: string, { file, cluster, isLab }: CommandTarget): string {
  const [program = '', ...words] = command.split(/\s+/)
  const add = (options: readonly string[]): readonly string[] =>
    options.some((option) => option.startsWith('-') && words.includes(option)) ? [] : options
  if (program === 'kubectl' || program === 'oc') {
    if (words.length < 2 || add(cluster).length === 0) return command
    return `${program} ${formatShellCommand(cluster)} ${command.slice(program.length).trimStart()}`
  }
  if (program !== 'stackloom') return command
  const parts = findParts(words)
  const options = [
    ...(parts.includes('file') && isLab === (words[0] === 'lab') ? add(file) : []),
    ...(parts.includes('cluster') ? add(cluster) : []),
  ]
  return options.length === 0 ? command : `${command} ${formatShellCommand(options)}`
}

/** Of the longest name that the words begin with. */
function findParts(words: readonly string[]): readonly Part[] {
  const names = [3, 2, 1].map((count) => words.slice(0, count).join('-'))
  const known = names.find((name) => targetParts.has(name))
  return targetParts.get(known ?? '') ?? []
}
