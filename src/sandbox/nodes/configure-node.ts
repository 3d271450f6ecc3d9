/** Applies the desired state of a policy to the interfaces of a node. Runs inside the sandbox. */
import { readFile } from 'node:fs/promises'
import { asInteger, asList, asString, isRecord, type JsonRecord } from '../../api/json.ts'
import { describeExit, type Exec, lastLines, succeeded, toProgram } from '../../exec/process.ts'
import { configureInterfaces, type Link } from './desired-state.ts'
import { inNetwork, type NodeLayout } from './node-layout.ts'

/** Returns why it failed; a failed change stays half made, where nmstate would take it back. */
export type ConfigureNode = (node: string, desired: JsonRecord) => Promise<string | undefined>

/** Takes the layout that the sandbox recorded before it started. */
export async function createConfigureNode(record: string, exec: Exec): Promise<ConfigureNode> {
  const layout = JSON.parse(await readFile(record, 'utf8')) as NodeLayout
  const run = async (command: readonly string[]): Promise<{ readonly output: string; readonly problem?: string }> => {
    const { exit, stdout, stderr } = await exec(toProgram(command))
    return succeeded(exit) ? { output: stdout } : { output: '', problem: lastLines(stderr) || describeExit(exit) }
  }
  const readLinks = async (namespace: string): Promise<readonly Link[]> =>
    parseLinks((await run([...inNetwork(namespace), 'ip', '-json', 'address', 'show'])).output)
  const configure: ConfigureNode = async (name, desired) => {
    const node = layout.nodes.find((candidate) => candidate.name === name)
    if (!node) return `node ${name} is not one of this sandbox`
    const [links, onSwitch] = [await readLinks(node.networkNamespace), await readLinks(layout.switchNamespace)]
    const configuration = configureInterfaces(layout, node, desired, {
      links,
      bridges: onSwitch.map((link) => link.name),
    })
    if (configuration.kind === 'refused') return configuration.reason
    for (const { command, mayFail } of configuration.steps) {
      const { problem } = await run(command)
      if (problem !== undefined && !mayFail) return `${command.slice(command.indexOf('--') + 1).join(' ')}: ${problem}`
    }
    return undefined
  }
  // One after the other: two nodes may need the same new switch.
  let last: Promise<unknown> = Promise.resolve()
  return (name, desired) => {
    const next = last.then(() => configure(name, desired))
    last = next.catch(() => undefined)
    return next
  }
}

/** Reads the output of `ip -json address show`. */
function parseLinks(text: string): readonly Link[] {
  return asList(JSON.parse(text || '[]'))
    .filter(isRecord)
    .map((link) => ({
      name: asString(link['ifname']) ?? '',
      master: asString(link['master']),
      addresses: asList(link['addr_info'])
        .filter(isRecord)
        .filter((address) => address['scope'] !== 'link')
        .map((address) => `${asString(address['local'])}/${asInteger(address['prefixlen'])}`),
    }))
}
