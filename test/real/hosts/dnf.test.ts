/**
 * Installs packages with the real dnf on a host that says it is RHEL, from a repository of empty packages with the real names:
 * Debian has dnf, and the packages of RHEL cannot be had here. What they contain is not tested.
 */
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { succeeded } from '../../../src/exec/process.ts'
import { requireSoak } from '../../counts.ts'
import { useNodes } from '../dataplane/nodes.ts'
import { play } from './playbooks.ts'

vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 })

const HOST = 'edpm-compute-0'
const nodes = useNodes([HOST])
const PACKAGES = ['openvswitch', 'ovn-host', 'chrony', 'iproute', 'iputils', 'procps-ng']

const described = [...PACKAGES, 'podman'].map(
  (name) => `%package -n ${name}\nSummary: ${name}\n%description -n ${name}\nEmpty.\n%files -n ${name}\n`,
)
const SPEC = `Name: empty
Version: 1
Release: 1
Summary: empty
License: MIT
BuildArch: noarch
%description
Empty.
${described.join('')}`

const SYSTEM = `set -e
echo 'Red Hat Enterprise Linux release 9.4 (Plow)' >/etc/redhat-release
rm -f /etc/os-release
printf 'NAME="Red Hat Enterprise Linux"\\nID="rhel"\\nID_LIKE="fedora"\\nVERSION_ID="9.4"\\n' >/etc/os-release
printf '[main]\\ngpgcheck=1\\nbest=True\\nskip_if_unavailable=False\\n' >/etc/dnf/dnf.conf
mkdir -p /etc/yum.repos.d /srv/repository
cat >/tmp/empty.spec <<'END'
${SPEC}END
rpmbuild --quiet -bb --define '_topdir /tmp/rpmbuild' /tmp/empty.spec
cp /tmp/rpmbuild/RPMS/noarch/*.rpm /srv/repository
createrepo_c --quiet /srv/repository`

const refusal = { text: undefined as string | undefined }
const run = (...words: readonly string[]) => nodes.node(HOST).run(...words)

beforeAll(async () => {
  const { exit } = await run('sh', '-c', 'command -v dnf && command -v rpmbuild && command -v createrepo_c')
  if (!succeeded(exit)) {
    refusal.text = 'there is no dnf, rpmbuild or createrepo_c'
    return
  }
  const prepared = await run('sh', '-c', SYSTEM)
  if (!succeeded(prepared.exit)) throw new Error(prepared.stderr)
})

beforeEach((context) => {
  requireSoak(context)
  if (refusal.text !== undefined) context.skip(refusal.text)
})

const install = (vars: Readonly<Record<string, unknown>>, baseurl = 'file:///srv/repository') =>
  play(nodes, {
    playbooks: ['install-os'],
    hosts: [HOST],
    vars: { stackloom_repositories: [{ name: 'local', baseurl }], stackloom_repositories_only: true, ...vars },
  })

describe('install-os on a host with dnf', () => {
  it('installs the packages of the family from the given repository only, and once', async () => {
    const end = await install({ stackloom_services_from: 'packages' })
    expect(end, end.message).toMatchObject({ reason: 'Completed' })
    const { stdout } = await run('rpm', '--query', '--all', '--queryformat', '%{NAME}\\n')
    expect(stdout.trim().split('\n').toSorted()).toEqual(PACKAGES.toSorted())
    expect(await install({ stackloom_services_from: 'packages' })).toMatchObject({
      hosts: { [HOST]: { changed: 0, failures: 0 } },
    })
  })

  it('installs Podman for services from images', async () => {
    const end = await install({})
    expect(end, end.message).toMatchObject({ reason: 'Completed' })
    expect((await run('rpm', '--query', 'podman')).stdout).toBe('podman-1-1.noarch\n')
  })

  it('names a package that no repository has, and a repository that does not answer', async () => {
    expect((await install({ stackloom_packages: ['absent'] })).message).toMatch(
      /^edpm-compute-0: Install the packages with dnf: .*absent.*SL7141/,
    )
    expect((await install({ stackloom_packages: ['absent'] }, 'file:///srv/other')).message).toMatch(
      /^edpm-compute-0: Install the packages with dnf: .*SL7142/,
    )
  })
})
