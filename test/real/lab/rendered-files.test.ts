/** Checks the rendered tree with the programs that read it. Nothing leaves this machine. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { Failure } from '../../../src/errors/failure.ts'
import { buildReverseZones, hostRecords } from '../../../src/lab/bind.ts'
import { buildNetplan } from '../../../src/lab/lima/networks.ts'
import { writeYaml } from '../../../src/yaml/write.ts'
import { type LabProgram, labPrograms } from '../../../tools/lab-setup.ts'
import { requireRoot, requireTool } from '../../tools.ts'
import { type RenderedLab, renderLabToDisk } from './rendered-lab.ts'

let rendered: RenderedLab
beforeAll(async () => {
  rendered = await renderLabToDisk({ 'spec.nodes.0.disks': { state: '40GiB' } })
})
afterAll(() => rendered.remove())

const UNPRIVILEGED = 65_534

/** Built by `make setup`; the test is skipped with the reason when they cannot be built. */
async function programs(context: Pick<TestContext, 'skip'>): Promise<Readonly<Record<LabProgram, string>>> {
  try {
    return await labPrograms()
  } catch (thrown) {
    if (thrown instanceof Failure) context.skip(thrown.message)
    throw thrown
  }
}

describe('Lima', () => {
  /** Runs as another user, because Lima refuses root. Without macOS it reports vmnet, which tests ignore. */
  const limactl = (program: string, ...args: string[]): readonly string[] => {
    const home = path.join(rendered.scratch, 'lima-home')
    cpSync(path.join(rendered.folder, 'lima'), path.join(home, 'src'), { recursive: true })
    cpSync(path.join(rendered.folder, 'lima/networks.yaml'), path.join(home, '_config/networks.yaml'))
    chmodSync(rendered.scratch, 0o755)
    for (const name of ['', ...(readdirSync(home, { recursive: true }) as string[])])
      chownSync(path.join(home, name), UNPRIVILEGED, UNPRIVILEGED)
    const copy = path.join(home, 'limactl')
    cpSync(program, copy)
    chmodSync(copy, 0o755)
    const { stdout, stderr } = spawnSync(
      copy,
      args.map((arg) => arg.replace('HOME', home)),
      {
        uid: UNPRIVILEGED,
        gid: UNPRIVILEGED,
        env: { HOME: home, LIMA_HOME: home, PATH: process.env['PATH'] },
        encoding: 'utf8',
      },
    )
    return `${stdout}${stderr}`
      .split('\n')
      .flatMap((line) => line.split('\\n'))
      .filter((line) => line !== '')
  }

  it('accepts every VM definition', async (context) => {
    requireRoot(context)
    const { limactl: program } = await programs(context)
    for (const node of rendered.lab.nodes) {
      const output = limactl(program, 'validate', `HOME/src/${node.file}.yaml`)
      const unexpected = output.filter(
        (line) => !line.includes('is only supported on macOS right now') && !line.includes('level=info'),
      )
      expect(unexpected).toEqual([])
      expect(output.length).toBeGreaterThan(0)
    }
  })

  it('knows every field of the VM definitions', async (context) => {
    requireRoot(context)
    const { limactl: program } = await programs(context)
    const files = rendered.lab.nodes.map((node) => `HOME/src/${node.file}.yaml`)
    const output = limactl(program, 'generate-jsonschema', '--schemafile', 'HOME/schema.json', ...files)
    expect(output.filter((line) => line.includes('OK'))).toHaveLength(files.length)
  })
})

describe('OpenTofu with the real OpenStack provider', () => {
  it('reports formatted and valid configuration', async (context) => {
    const { tofu, 'terraform-provider-openstack': provider } = await programs(context)
    const cwd = path.join(rendered.folder, 'terraform/openstack')
    const config = path.join(rendered.scratch, 'tofurc')
    const overrides = `dev_overrides { "terraform-provider-openstack/openstack" = "${path.dirname(provider)}" }`
    writeFileSync(config, `provider_installation {\n  ${overrides}\n  direct {}\n}\n`)
    const env = { ...process.env, TF_CLI_CONFIG_FILE: config, CHECKPOINT_DISABLE: '1' }
    expect(execFileSync(tofu, ['fmt', '-check', '-diff', '.'], { cwd, env, encoding: 'utf8' })).toBe('')
    const result = JSON.parse(execFileSync(tofu, ['validate', '-json'], { cwd, env, encoding: 'utf8' })) as object
    expect(result).toMatchObject({ valid: true, error_count: 0 })
  })
})

describe('openssl', () => {
  it('verifies every certificate with -x509_strict', (context) => {
    requireTool(context, 'openssl')
    const cwd = path.join(rendered.folder, 'kolla')
    const leaves = [
      'certificates/haproxy.pem',
      'certificates/haproxy-internal.pem',
      'certificates/backend-cert.pem',
      'certificates/rabbitmq-cert.pem',
      'certificates/mariadb-cert.pem',
      'certificates/proxysql-cert.pem',
      'config/nova/nova-libvirt/servercert.pem',
    ]
    const args = ['verify', '-x509_strict', '-CAfile', 'certificates/ca/root.crt', ...leaves]
    expect(execFileSync('openssl', args, { cwd, encoding: 'utf8' })).toBe(
      leaves.map((leaf) => `${leaf}: OK\n`).join(''),
    )
    const host = [
      'verify',
      '-x509_strict',
      '-verify_hostname',
      'api.openstack.local',
      '-CAfile',
      'certificates/ca/root.crt',
    ]
    expect(execFileSync('openssl', [...host, 'certificates/haproxy.pem'], { cwd, encoding: 'utf8' })).toContain('OK')
  })

  it('derives the public key from the SSH key of the lab', (context) => {
    requireTool(context, 'ssh-keygen')
    const file = path.join(rendered.folder, 'ssh/id_ed25519')
    const derived = execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' }).trim()
    expect(derived).toBe(readFileSync(`${file}.pub`, 'utf8').trim())
  })
})

describe('BIND', () => {
  const bindFolder = (): string => {
    const folder = path.join(rendered.scratch, 'bind')
    cpSync(path.join(rendered.folder, 'bind'), folder, { recursive: true })
    mkdirSync(path.join(folder, 'cache'), { recursive: true })
    const conf = readFileSync(path.join(folder, 'named.conf'), 'utf8')
      .replaceAll('/etc/bind/zones', path.join(folder, 'zones'))
      .replace('/var/cache/bind', path.join(folder, 'cache'))
    writeFileSync(path.join(folder, 'named.conf'), conf)
    return folder
  }

  it('loads every zone', (context) => {
    requireTool(context, 'named-checkconf')
    const output = execFileSync('named-checkconf', ['-z', path.join(bindFolder(), 'named.conf')], {
      encoding: 'utf8',
    })
    expect(output.match(/loaded serial/g)).toHaveLength(1 + buildReverseZones(rendered.lab).length)
  })

  it('answers for every record, forward and reverse', async (context) => {
    requireTool(context, 'named')
    requireTool(context, 'dig')
    requireRoot(context)
    const folder = bindFolder()
    const file = path.join(folder, 'named.conf')
    const port = 5300 + (process.pid % 500)
    // Runs on loopback in its own network namespace, so it can reach nothing else.
    const conf = readFileSync(file, 'utf8')
      .replace(/listen-on \{[^}]*\}/, `listen-on port ${port} { 127.0.0.1; }`)
      .replace(/forwarders \{[^}]*\};/, '')
      .replace('options {', `options {\n    pid-file "${folder}/named.pid";\n    session-keyfile none;`)
    writeFileSync(file, `controls { };\n${conf}`)
    const names = hostRecords(rendered.lab).map(
      (hostRecord) => [`${hostRecord.name}.${rendered.lab.dns.domain}`, hostRecord.address] as const,
    )
    const questions = [
      ...names.map(([name]) => `+short ${name} A`),
      ...names.map(([, address]) => `+short -x ${address}`),
    ]
    writeFileSync(path.join(folder, 'questions'), questions.map((question) => `${question}\n`).join(''))
    const script = `ip link set lo up
named -g -c ${file} > ${folder}/log 2>&1 &
pid=$!
for i in $(seq 100); do dig -p ${port} @127.0.0.1 +short +tries=1 +time=1 ns1.${rendered.lab.dns.domain} | grep -q '^[0-9]' && break; sleep 0.1; done
while read -r line; do echo "$(dig -p ${port} @127.0.0.1 $line | tr '\\n' ' ')"; done < ${folder}/questions
kill $pid; wait $pid`
    const answers = execFileSync('unshare', ['-n', 'sh', '-c', script], { encoding: 'utf8' })
      .trimEnd()
      .split('\n')
      .map((line) => line.trim())
    expect(answers.slice(0, names.length)).toEqual(names.map(([, address]) => address))
    expect(answers).toHaveLength(2 * names.length)
    for (const name of answers.slice(names.length)) expect(name).toMatch(/\.openstack\.local\.$/)
  })
})

describe('netplan', () => {
  it('configures static addresses, and no address on the raw port', (context) => {
    requireTool(context, 'netplan')
    for (const node of rendered.lab.nodes) {
      const root = path.join(rendered.scratch, `netplan-${node.name}`)
      mkdirSync(path.join(root, 'etc/netplan'), { recursive: true })
      const file = path.join(root, 'etc/netplan/90-stackloom.yaml')
      writeFileSync(file, writeYaml(buildNetplan(rendered.lab, node)), { mode: 0o600 })
      const { stderr } = spawnSync('netplan', ['generate', '--root-dir', root], { encoding: 'utf8' })
      expect(stderr).not.toMatch(/Error in network definition|unknown key/)
      for (const nic of node.nics) {
        const unit = readFileSync(path.join(root, `run/systemd/network/10-netplan-${nic.interface}.network`), 'utf8')
        if (nic.address === undefined) expect(unit).toMatch(/LinkLocalAddressing=no/)
        else expect(unit).toContain(`Address=${nic.address}/${nic.prefix}`)
        expect(unit).not.toMatch(/DHCP=(yes|ipv4)/)
      }
    }
  })
})

describe("Ceph's own parser", () => {
  it('accepts every specification', (context) => {
    const program = `
import sys, yaml
from ceph.deployment.hostspec import HostSpec
from ceph.deployment.service_spec import ServiceSpec
documents = list(yaml.safe_load_all(open(sys.argv[1])))
for document in documents:
    if document['service_type'] == 'host':
        HostSpec.from_json(document)
    else:
        ServiceSpec.from_json(document).validate()
print(len(documents))
`
    const installed = spawnSync('/usr/bin/python3', ['-c', 'import ceph.deployment.service_spec']).status === 0
    if (!installed) context.skip('python3-ceph-common is not installed; `make setup` as root installs it')
    const file = path.join(rendered.folder, 'ceph/cluster.yaml')
    const output = execFileSync('/usr/bin/python3', ['-c', program, file], { encoding: 'utf8' })
    expect(output.trim()).toBe('7')
  })
})
