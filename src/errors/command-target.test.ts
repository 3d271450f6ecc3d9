import { describe, expect, it } from 'vitest'
import { aimCommand, aimCommands, readTarget } from './command-target.ts'

const target = readTarget(['up', '-f', 'prod.yaml', '--cloud', 'a', '--kubeconfig=my config', '--context', 'prod'])
const CLUSTER = "--kubeconfig 'my config' --context prod"

describe('a command that is offered', () => {
  it.each([
    ['kubectl -n a describe pod b', `kubectl ${CLUSTER} -n a describe pod b`],
    ['oc get nodes', `oc ${CLUSTER} get nodes`],
    [`kubectl -n a patch service b -p '{"a":"|; x"}'`, `kubectl ${CLUSTER} -n a patch service b -p '{"a":"|; x"}'`],
    [
      'kubectl get nodes --show-labels; kubectl get nncp a -o yaml',
      `kubectl ${CLUSTER} get nodes --show-labels; kubectl ${CLUSTER} get nncp a -o yaml`,
    ],
    [
      'stackloom operator crds | kubectl apply --server-side -f -',
      `stackloom operator crds | kubectl ${CLUSTER} apply --server-side -f -`,
    ],
    ['stackloom up', `stackloom up -f prod.yaml ${CLUSTER}`],
    ['stackloom status --cloud a', `stackloom status --cloud a ${CLUSTER}`],
    ['stackloom hosts deploy --failed', `stackloom hosts deploy --failed ${CLUSTER}`],
    ['stackloom ip repair --dry-run', `stackloom ip repair --dry-run ${CLUSTER}`],
    ['stackloom render', 'stackloom render -f prod.yaml'],
    ['stackloom up -f other.yaml', `stackloom up -f other.yaml ${CLUSTER}`],
    ['stackloom doctor --context other', 'stackloom doctor --context other -f prod.yaml'],
    ['stackloom explain SL1234', 'stackloom explain SL1234'],
    ['stackloom lab up', 'stackloom lab up'],
    ['kubectl explain', 'kubectl explain'],
    ['openstack server list', 'openstack server list'],
    ['spec.vips', 'spec.vips'],
  ])('acts on the same file and cluster: %s', (command, aimed) => {
    expect(aimCommand(command, target)).toBe(aimed)
    // A recorded command is aimed when it is recorded, and when it is shown.
    expect(aimCommand(aimed, target)).toBe(aimed)
  })

  it('is found in a sentence', () => {
    expect(aimCommands('run `stackloom plan`, or `kubectl get pods -A`; kubectl stays', target)).toBe(
      `run \`stackloom plan -f prod.yaml ${CLUSTER}\`, or \`kubectl ${CLUSTER} get pods -A\`; kubectl stays`,
    )
  })

  it('gets no options where the defaults hold', () => {
    for (const command of ['kubectl get nodes', 'stackloom up', 'stackloom lab up'])
      expect(aimCommand(command, readTarget(['up', '--yes', '-f', 'site.yaml']))).toBe(command)
  })

  it('gets the file of a lab only where it reads one, and never stdin', () => {
    const lab = readTarget(['lab', 'up', '-f', 'other.yaml'])
    expect(aimCommand('stackloom lab down', lab)).toBe('stackloom lab down -f other.yaml')
    expect(aimCommand('stackloom up', lab)).toBe('stackloom up')
    expect(readTarget(['plan', '-f', '-'])).toEqual({ file: [], cluster: [], isLab: false })
  })
})
