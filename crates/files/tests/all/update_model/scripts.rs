//! Tests that run the scripts.

use std::fmt::Debug;
use std::thread;

use super::*;

/// Many more than cores: scripts mostly wait for the clock of the file system.
const THREADS: u64 = 16;

/// Returns a number from the environment.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Calls `work` with all numbers below `end`, on several threads. Returns the errors.
fn on_threads<E: Send + Debug>(end: u64, work: impl Fn(u64) -> Result<(), E> + Sync) -> Vec<E> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|first| {
                let mine = (first..end).step_by(THREADS as usize);
                scope.spawn(move || mine.filter_map(|one| work(one).err()).collect::<Vec<E>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    })
}

#[test]
fn random_scripts() {
    let (scripts, seed) = (number("TAGMAC_TEST_SCRIPTS", 2000), number("TAGMAC_TEST_SEED", 1));
    let (keys, first) = (keys(), number("TAGMAC_TEST_FIRST", 0));
    let broken = on_threads(scripts, |number| script(&keys, seed, first + number));
    assert!(
        broken.is_empty(),
        "{} of {scripts}: {:#?}",
        broken.len(),
        &broken[..broken.len().min(9)]
    );
}

/// A write that is lost although the system reports success must be noticed.
#[test]
fn a_lost_write_is_noticed() {
    let keys = keys();
    let mut noticed = 0;
    for at in 1..CALLS {
        let mut model = Model::new(&keys[0], 5, 0, 3);
        let content = [&*model.content, &[7; 500]].concat();
        fs::write(&model.file, &content).unwrap();
        model.has_to_succeed(&Op::None, &content).unwrap();
        let mut new = content.clone();
        new[100..200].fill(1);
        let patch = Op::Patch(100, vec![1; 100]);
        noticed += u32::from(model.failed(&patch, &content, &new, (at, Event::Lose)).is_err());
    }
    assert!(noticed > 0);
}

/// Every length modulo the block, every algorithm, every kind of edit, and short and long names.
#[test]
fn every_length_modulo_the_block() {
    let keys = keys();
    let longest = keys.iter().map(|key| key.parts().unwrap().block()).max().unwrap() as u64;
    let cases: Vec<(usize, u64)> = (0..keys.len())
        .flat_map(|key| {
            let block = keys[key].parts().unwrap().block() as u64;
            // For the longest block, only the lengths near its ends and every 16th.
            (0..block)
                .filter(move |rest| {
                    block < longest || *rest < 8 || *rest + 128 > block || rest % 16 == 0
                })
                .map(move |rest| (key, rest))
        })
        .collect();
    let broken = on_threads(cases.len() as u64, |case| {
        let (key, rest) = cases[case as usize];
        let mut model = Model::new(&keys[key], 9, case, rest);
        let told = every_kind_of_edit(&mut model);
        told.map_err(|what| {
            let (algorithm, name) =
                (keys[key].mac.algorithm(), model.file.file_name().unwrap().len());
            format!("{algorithm}, {rest} bytes in no block, a name of {name} bytes: {what}")
        })
    });
    assert!(
        broken.is_empty(),
        "{} of {}: {:#?}",
        broken.len(),
        cases.len(),
        &broken[..broken.len().min(9)]
    );
}

/// Edits at the end of the file, where the header contains the rests of both states.
fn every_kind_of_edit(model: &mut Model<'_>) -> Verdict {
    let block = model.key.parts().unwrap().block() as u64;
    let content = model.content.clone();
    model.has_to_succeed(&Op::None, &content)?;
    let length = model.length();
    if length > 0 {
        let mut new = content.clone();
        new[length as usize - 1] ^= 1;
        let last = vec![new[length as usize - 1]];
        model.has_to_succeed(&Op::Patch(length - 1, last), &new)?;
        new[length as usize - 1] ^= 3;
        model.write(&new);
        model.has_to_succeed(&Op::Range(length - 1, 1), &new)?;
    }
    // From the largest rest to this one, and back.
    let grown = [&*model.content, &model.random.bytes(block - length % block)].concat();
    model.write(&grown);
    model.has_to_succeed(&Op::Append, &grown)?;
    for to in [grown.len() - 1, content.len(), content.len().saturating_sub(1)] {
        model.has_to_succeed(&Op::Truncate(to as u64), &grown[..to])?;
    }
    Ok(())
}

/// An input that continues after its end, like a terminal or a pipe with a second writer.
struct GoesOn(Vec<&'static [u8]>);

impl Read for GoesOn {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Ok(0);
        }
        let next = self.0.remove(0);
        buffer[..next.len()].copy_from_slice(next);
        Ok(next.len())
    }
}

#[test]
fn a_patch_ends_where_its_input_first_ends() {
    for key in &keys() {
        let model = Model::new(key, 3, 0, 5);
        let mut content = vec![b'x'; 1000];
        fs::write(&model.file, &content).unwrap();
        assert!(model.run(&Op::None, None).result.is_ok());
        let open = || {
            let pieces: [&[u8]; 6] = [b"one", b" line", b"", b"another", b"", b"third"];
            Ok(Box::new(GoesOn(pieces.to_vec())) as Box<dyn Read>)
        };
        let edit = Some(Edit::Patch { offset: 500, name: Path::new("input"), open: &open });
        let args = Update {
            file: &model.file,
            sidecar: Sidecar::Exists,
            edit,
            expect: None,
            leaf: None,
            threads: 1,
        };
        let updated = update(key, &args, &()).unwrap();
        content[500..508].copy_from_slice(b"one line");
        assert!(model.disk() == content, "{}", key.mac.algorithm());
        assert!(model.is_tag_of(&updated, &content), "{}", key.mac.algorithm());
    }
}
