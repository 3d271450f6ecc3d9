import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { instantClock } from '../../../test/instant-clock.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StageContext } from '../../run/stage.ts'
import { dumpDatabases, restoreDatabases } from './database-dumps.ts'

const namespace = 'openstack'
const mariadb = (kind: string, name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'mariadb.openstack.org/v1beta1',
  kind,
  metadata: { name, namespace },
  spec,
})
const ownedBy = (kind: string, name: string) => [{ apiVersion: 'mariadb.openstack.org/v1beta1', kind, name, uid: name }]
const cronJob = (name: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: `backup-${name}`, namespace, ownerReferences: ownedBy('GaleraBackup', name) },
  spec: {
    jobTemplate: {
      spec: { template: { spec: { containers: [{ name: 'dump', env: [{ name: 'DB', value: name }] }] } } },
    },
  },
})
const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `restore-${name}`, namespace, ownerReferences: ownedBy('GaleraRestore', name) },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

describe('databases', () => {
  const setup = () => {
    const cluster = memoryCluster()
    const context: StageContext = { emit: () => undefined, stop: neverAborted(), clock: instantClock() }
    const create = async (...objects: readonly KubeObject[]) => {
      for (const object of objects) await cluster.client.create(object)
    }
    /** What the Job controller does with each Job. */
    const finish = async (type: 'Complete' | 'Failed') => {
      for (;;) {
        const [job] = cluster.objects('Job')
        if (job) {
          const ref = { apiVersion: 'batch/v1', kind: 'Job', namespace, name: job.metadata.name }
          const conditions = [{ type, status: 'True', message: 'BackoffLimitExceeded' }]
          await cluster.client.patch(ref, { status: { conditions } }, { type: 'merge' })
          return
        }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    return { cluster, context, create, finish }
  }

  it('are dumped by a Job of the CronJob, with the name of the backup', async () => {
    const { cluster, context, create, finish } = setup()
    await create(mariadb('Galera', 'openstack'), cronJob('openstack'))
    const [dumps] = await Promise.all([
      dumpDatabases(cluster.client, namespace, 'rhoso1-1', context),
      finish('Complete'),
    ])
    expect(dumps).toEqual({ names: ['openstack'], findings: [] })
    expect(cluster.objects('GaleraBackup')[0]?.['spec']).toEqual({ databaseInstance: 'openstack' })
    const [job] = cluster.objects('Job')
    expect(job?.metadata.name).toBe('backup-openstack-rhoso1-1')
    expect(JSON.stringify(job)).toContain('{"name":"BACKUP_TIMESTAMP","value":"rhoso1-1"}')
    await dumpDatabases(cluster.client, namespace, 'rhoso1-1', context)
    expect(cluster.objects('Job')).toHaveLength(1)
  })

  it('that cannot be dumped stop the backup', async () => {
    const { cluster, context, create, finish } = setup()
    await create(mariadb('Galera', 'openstack'), cronJob('openstack'))
    const dumping = dumpDatabases(cluster.client, namespace, 'rhoso1-1', context)
    const failing = expect(dumping).rejects.toMatchObject({ findings: [{ code: 'SL4119' }] })
    await finish('Failed')
    await failing
  })

  it('are restored by the script in the pod of a GaleraRestore, which is deleted afterwards', async () => {
    const { cluster, context, create } = setup()
    await create(pod('openstack'), pod('openstack-cell1'))
    const calls: string[] = []
    const exec = async (name: string, command: readonly string[]) => {
      calls.push(`${name}: ${command.at(-1)}`)
      return { stdout: '', stderr: '', exitCode: 0 }
    }
    const request = { namespace, dumps: ['openstack', 'openstack-cell1'], backup: 'rhoso1-1' }
    await restoreDatabases(cluster.client, request, exec, context)
    expect(calls.map((call) => call.split(':')[0])).toEqual(['restore-openstack', 'restore-openstack-cell1'])
    expect(cluster.objects('GaleraRestore')).toEqual([])
    // Upstream's script prints errors to stdout.
    for (const stream of ['stdout', 'stderr']) {
      const failing = async () => ({ stdout: '', stderr: '', [stream]: 'connecting\naccess denied\n', exitCode: 1 })
      await expect(restoreDatabases(cluster.client, request, failing, context)).rejects.toMatchObject({
        findings: [{ code: 'SL4119', message: expect.stringContaining('access denied') }],
      })
    }
    expect(cluster.objects('GaleraRestore')).toHaveLength(1)
  })

  describe('in the volume of the pod', () => {
    const folder = useFolder()
    /** Runs the command with a script that, like upstream's, ends well whatever it gets. */
    const runInPod = async (_: string, [file = '', ...args]: readonly string[]) => {
      const restored = path.join(folder, 'restore_galera')
      await writeFile(restored, '#!/bin/sh\necho "restored $@"\n', { mode: 0o755 })
      const local = args.map((text) =>
        text.replaceAll('/var/lib/backup-scripts', folder).replaceAll('/backup/data', folder),
      )
      const { stdout, stderr, status } = spawnSync(file, local, { encoding: 'utf8' })
      outputs.push(stdout)
      return { stdout, stderr, exitCode: status ?? 1 }
    }
    const outputs: string[] = []

    it('are restored only from a dump that is there and whole', async () => {
      const { cluster, context, create } = setup()
      await create(pod('openstack'))
      const request = { namespace, dumps: ['openstack'], backup: 'rhoso1-1' }
      const restore = () => restoreDatabases(cluster.client, request, runInPod, context)
      const refused = { findings: [{ code: 'SL4119', message: expect.stringContaining('gzip:') }] }
      await expect(restore()).rejects.toMatchObject(refused)
      const dump = path.join(folder, 'openstack_backup_rhoso1-1.sql.gz')
      const whole = gzipSync('create database nova;')
      await writeFile(dump, whole.subarray(0, -6))
      await expect(restore()).rejects.toMatchObject(refused)
      await writeFile(dump, whole)
      await restore()
      expect(outputs).toEqual(['', '', `restored --yes --content data ${dump}\n`])
    })
  })
})
