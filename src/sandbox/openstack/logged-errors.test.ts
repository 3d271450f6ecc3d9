import { appendFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { findCause, watchLogs } from './logged-errors.ts'

const folder = useFolder()

describe('findCause', () => {
  it('returns the cause at the end of a traceback, without the head of the line', () => {
    const head = '2026-11-17 20:04:32.610 532 ERROR keystone.server.flask.application'
    const log = [
      `${head} [req-7 - - - - -] (pymysql.err.OperationalError) (2003, 'refused')`,
      `${head} Traceback (most recent call last):`,
      `${head}   File "/usr/lib/python3/dist-packages/pymysql/connections.py", line 644, in connect`,
      `${head} oslo_db.exception.DBConnectionError: (pymysql.err.OperationalError) (1045, "Access denied for user 'keystone'")`,
      `${head} (Background on this error at: https://sqlalche.me/e/14/e3q8)`,
      `${head} `,
      '2026-11-17 20:04:33.000 532 INFO keystone.server [-] served',
    ]
    expect(findCause(log.join('\n'))).toBe(
      `oslo_db.exception.DBConnectionError: (pymysql.err.OperationalError) (1045, "Access denied for user 'keystone'")`,
    )
  })

  it('returns the last error without a traceback, and nothing without errors', () => {
    expect(findCause('2026-11-17 20:04:32 1 \u001b[31mCRITICAL nova [-] no space left\u001b[0m\n')).toBe(
      'no space left',
    )
    expect(findCause('2026-11-17 20:04:32 1 INFO nova [-] ERROR is a word here\n')).toBeUndefined()
  })
})

describe('findCause of MariaDB', () => {
  it('returns the first error, from which the others follow', () => {
    const log = [
      '2026-11-17 20:04:32 0 [Note] InnoDB: Completed initialization of buffer pool',
      '2026-11-17 20:04:33 0 [ERROR] InnoDB: preallocating 12582912 bytes for file ./ibtmp1 failed with error 28',
      "2026-11-17 20:04:33 0 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.",
      '2026-11-17 20:04:33 0 [ERROR] Aborting',
    ]
    expect(findCause(log.join('\n'))).toMatch(/^InnoDB: preallocating .* failed with error 28$/)
  })
})

describe('watchLogs', () => {
  it('reports only errors since the service worked last', async () => {
    const file = path.join(folder, 'nova-api.log')
    const error = (text: string): string => `2026-11-17 20:04:32.610 5 ERROR nova.api [-] ${text}\n`
    await writeFile(file, error('old'))
    const files = [path.join(folder, 'absent.log'), file]
    const errors = watchLogs()
    expect(await errors.findCause(files)).toBe('old')
    await errors.forget(files)
    expect(await errors.findCause(files)).toBeUndefined()
    await appendFile(file, error('new'))
    expect(await errors.findCause(files)).toBe('new')
  })
})
