/** `lab backup`: the database and Glance's images of the controller, packed on this machine. */
import path from 'node:path'
import { nodesWithRole } from '../lab.ts'
import { STATE_FOLDER } from '../tree.ts'
import type { DriveContext } from './stage.ts'
import { run, type Step } from './step.ts'

/** Names sort by time: the newest is the last. */
export function backupSteps({ lab, tools, folder }: DriveContext, now: number): readonly Step[] {
  const [node] = nodesWithRole(lab, 'control')
  if (!node) return []
  const name = `${STATE_FOLDER}/backups/${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.tar`
  return [
    run(tools.kolla('mariadb-backup'), 'a backup of the database'),
    run(tools.ssh(node, 'sudo sh -s'), 'packed', { inputFile: 'scripts/node/backup-database.sh' }),
    run(['mkdir', '-p', '-m', '700', path.join(folder, path.dirname(name))], 'room for it'),
    run(tools.copyFrom(node, '/tmp/stackloom-backup.tar', path.join(folder, `${name}.part`)), `${name}`),
    // Whole or not at all: a half backup must not count as one.
    run(['mv', path.join(folder, `${name}.part`), path.join(folder, name)], `${name} is complete`),
    run(tools.ssh(node, 'rm -f /tmp/stackloom-backup.tar'), 'nothing stays behind'),
  ]
}
