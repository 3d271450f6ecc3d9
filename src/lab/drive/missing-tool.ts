/** A program that cannot be started, and how to get it. */
import path from 'node:path'
import { type Failure, failure } from '../../errors/failure.ts'
import { toolMissing } from '../findings/lab-run.ts'

const HOW: Readonly<Record<string, string>> = {
  limactl: 'brew install lima socket_vmnet qemu',
  tofu: 'brew install opentofu',
  ssh: 'install OpenSSH',
  scp: 'install OpenSSH',
  python3: 'brew install python@3.12',
  'kolla-ansible': 'run the stage deployer: stackloom lab up --from deployer',
}

export function missingTool(tool: string, why: string): Failure {
  const how = HOW[path.basename(tool)] ?? 'install it, or run the stages before this one'
  return failure(toolMissing, { tool, why, how }, { exitCode: 1 })
}
