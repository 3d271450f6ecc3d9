"""Answers, with the real oslo.config, what a file means: one JSON question per line in, one JSON answer out."""
import json
import os
import sys
import tempfile

from oslo_config import cfg

folder = tempfile.mkdtemp(dir='/dev/shm' if os.path.isdir('/dev/shm') else None)


def save(name, text):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8', newline='') as target:
        target.write(text)
    return path


def parse(question):
    sections = {}
    parser = cfg.ConfigParser(save('one.conf', question['text']), sections)
    try:
        parser.parse()
    except cfg.ParseError as error:
        return {'refused': error.msg, 'line': error.lineno}
    return {'sections': [[section, [[key, values] for key, values in options.items()]]
                         for section, options in sections.items()]}


def merge(question):
    files = [save('%02d.conf' % index, text) for index, text in enumerate(question['files'])]
    conf = cfg.ConfigOpts()
    single = cfg.StrOpt('single')
    multi = cfg.MultiStrOpt('multi')
    for group in (None, 'group'):
        conf.register_opt(single, group=group)
        conf.register_opt(multi, group=group)
    conf([word for path in files for word in ('--config-file', path)], project='none', default_config_files=[],
         default_config_dirs=[])
    return {'DEFAULT': [conf.single, conf.multi], 'group': [conf.group.single, conf.group.multi]}


def expand(question):
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt('value'))
    for name, value in question['options'].items():
        group, _, key = name.rpartition('.')
        conf.register_opt(cfg.StrOpt(key, default=value), group=group or None)
    conf([], project='none', default_config_files=[], default_config_dirs=[])
    try:
        return {'value': conf._substitute(question['value'])}
    except (cfg.NoSuchOptError, cfg.NoSuchGroupError):
        return {'unknown': True}


questions = {'parse': parse, 'merge': merge, 'expand': expand}
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps(questions[question['kind']](question)), flush=True)
for name in os.listdir(folder):
    os.unlink(os.path.join(folder, name))
os.rmdir(folder)
