//! Shards and roots of a bucket's manifest, for `tagmac.spark`. The format and all checks are those
//! of `tagmac_files::objects`.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};
use tagmac::Tag;
use tagmac_files::Error;
use tagmac_files::audit::{paired, planned};
use tagmac_files::chain::Chain;
use tagmac_files::day::Day;
use tagmac_files::filter;
use tagmac_files::manifest::entry::Content;
use tagmac_files::objects::{
    FormatVersion, ManifestKey, Object, ROOT, Root, RootBuilder, RootHeader, Shard, ShardBuilder,
    ShardRecord,
};

use crate::error::failed;
use crate::key::Key;
use crate::memory::{copied, extracted, reserved};

/// Returns the text of a shard and its record for the root.
///
/// `names` must be in byte order. `nonces` is needed if the MAC needs them. `day` is the day on which
/// the objects were read, as YYYY-MM-DD, by default today. `stamps` has a stamp or `None` for each
/// object.
#[pyfunction]
#[pyo3(signature = (key, number, names, sizes, tags, nonces=None, *, day=None, stamps=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn shard_seal<'py>(
    py: Python<'py>,
    key: &Bound<'py, Key>,
    number: u64,
    names: &Bound<'py, PyAny>,
    sizes: &Bound<'py, PyAny>,
    tags: &Bound<'py, PyAny>,
    nonces: Option<&Bound<'py, PyAny>>,
    day: Option<&str>,
    stamps: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let key = manifest_key(key);
    let count = names.len()?;
    let columns =
        [("sizes", Some(sizes)), ("tags", Some(tags)), ("nonces", nonces), ("stamps", stamps)];
    for (what, column) in columns {
        let found = column.map_or(Ok(count), |column| column.len())?;
        if found != count {
            return Err(PyValueError::new_err(format!("expected {count} {what}, found {found}")));
        }
    }
    let (names, tags) = (extracted::<PyBackedBytes>(names)?, extracted::<PyBackedBytes>(tags)?);
    let sizes = extracted::<u64>(sizes)?;
    let nonces = nonces.map(extracted::<PyBackedBytes>).transpose()?;
    let stamps = stamps.map(extracted::<Option<PyBackedBytes>>).transpose()?;
    let day = day.map_or(Some(Day::today()), |day| Day::parse(day.as_bytes()));
    let day = day.ok_or_else(|| PyValueError::new_err("day: expected YYYY-MM-DD"))?;
    let seal = || {
        let mut shard = ShardBuilder::new(&key, number);
        for i in 0..count {
            let tag = Tag::new(&tags[i], key.bits).map_err(Error::usage)?;
            let nonce = nonces.as_ref().map_or(&[][..], |nonces| &nonces[i]).to_vec();
            let stamp = stamps.as_ref().and_then(|stamps| stamps[i].as_deref());
            shard.push(&Object {
                name: names[i].to_vec(),
                size: sizes[i],
                nonce,
                tag: Some(tag),
                read: Some(day),
                stamp: stamp.map(<[u8]>::to_vec),
            })?;
        }
        shard.seal()
    };
    let (text, record) = py.detach(seal).map_err(failed)?;
    Ok((PyBytes::new(py, &text), PyBytes::new(py, &record.to_line())))
}

/// Returns the file name of the shard with this record.
#[pyfunction]
pub fn shard_name(record: &[u8]) -> PyResult<String> {
    Ok(parse(record)?.file_name())
}

/// Number, length, entries, bytes, first and last name.
type RecordFields<'py> = (u64, u64, u64, u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Returns the fields of a record: number, length, entries, bytes, first and last name.
#[pyfunction]
pub fn record_fields<'py>(py: Python<'py>, record: &[u8]) -> PyResult<RecordFields<'py>> {
    let ShardRecord { number, length, entries, bytes, first, last, .. } = parse(record)?;
    let [first, last] = [first, last].map(|name| PyBytes::new(py, &name));
    Ok((number, length, entries, bytes, first, last))
}

/// Names, sizes, tags, nonces, days and stamps.
type Columns<'py> = (
    Bound<'py, PyList>,
    Bound<'py, PyList>,
    Bound<'py, PyList>,
    Bound<'py, PyList>,
    Bound<'py, PyList>,
    Bound<'py, PyList>,
);

/// Returns the names, sizes, tags, nonces, days and stamps of a shard, after checking that it is the
/// one that the record describes in a root of this version. The tag of an archived object is `None`,
/// and so are days and stamps that are not known.
///
/// `shown` is the shard's name in errors.
#[pyfunction]
#[pyo3(signature = (key, record, text, *, version=2, shown=None))]
pub fn shard_open<'py>(
    py: Python<'py>,
    key: &Bound<'py, Key>,
    record: &[u8],
    text: PyBackedBytes,
    version: u32,
    shown: Option<&str>,
) -> PyResult<Columns<'py>> {
    let (key, record) = (manifest_key(key), parse(record)?);
    let version = FormatVersion::from_number(version.to_string().as_bytes())
        .ok_or_else(|| PyValueError::new_err("version: expected 1 or 2"))?;
    let file = record.file_name();
    let text = copied(&text)?;
    let open = || Shard::open(&key, version, &record, text, shown.unwrap_or(&file));
    let shard = py.detach(open).map_err(failed)?;
    let columns = [(); 6].map(|()| PyList::empty(py));
    let [names, sizes, tags, nonces, days, stamps] = &columns;
    for Object { name, size, nonce, tag, read, stamp } in shard.into_objects() {
        names.append(PyBytes::new(py, &name))?;
        sizes.append(size)?;
        tags.append(tag.map(|tag| PyBytes::new(py, tag.as_bytes())))?;
        nonces.append(PyBytes::new(py, &nonce))?;
        days.append(read.map(|day| day.to_string()))?;
        stamps.append(stamp.map(|stamp| PyBytes::new(py, &stamp)))?;
    }
    Ok(columns.into())
}

/// Returns the text of the root, given the records of all shards in order. `after` is the text of a
/// root whose chain this one continues. `leaves` is the length of leaves in bytes, if the objects
/// have leaf tags.
#[pyfunction]
#[pyo3(signature = (key, records, *, after=None, leaves=None))]
pub fn root_seal<'py>(
    py: Python<'py>,
    key: &Bound<'py, Key>,
    records: &Bound<'py, PyAny>,
    after: Option<PyBackedBytes>,
    leaves: Option<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let key = manifest_key(key);
    let chain = match after {
        Some(text) => {
            let old = Root::open(&key, copied(&text)?, ROOT).map_err(failed)?;
            old.header.chain.next(old.seal, Day::today())
        }
        None => Chain::start(Day::today()),
    };
    let mut root = RootBuilder::new(&key, &RootHeader { chain, leaves, ..RootHeader::default() });
    for record in records.try_iter()? {
        root.push(&parse(&record?.extract::<PyBackedBytes>()?)?).map_err(failed)?;
    }
    Ok(PyBytes::new(py, &root.seal()))
}

/// The records of the shards, the version, whether the objects are those of a list, and the filters.
type RootFields<'py> = (Bound<'py, PyList>, u32, bool, Bound<'py, PyList>);

/// Returns the records of a root's shards in order, the version of the manifest, whether its objects
/// are those of a list, and the patterns of the objects left out.
///
/// `shown` is the root's name in errors.
#[pyfunction]
#[pyo3(signature = (key, text, *, shown=None))]
pub fn root_open<'py>(
    py: Python<'py>,
    key: &Bound<'py, Key>,
    text: PyBackedBytes,
    shown: Option<&str>,
) -> PyResult<RootFields<'py>> {
    let key = manifest_key(key);
    let text = copied(&text)?;
    let open = || Root::open(&key, text, shown.unwrap_or(ROOT));
    let root = py.detach(open).map_err(failed)?;
    let records = PyList::empty(py);
    for record in root.records() {
        records.append(PyBytes::new(py, &record.to_line()))?;
    }
    let version = if root.version == FormatVersion::V1 { 1 } else { 2 };
    let filters = root.header.filters.iter().map(|filter| PyBytes::new(py, filter));
    Ok((records, version, root.header.listed, PyList::new(py, filters)?))
}

/// The filters of a root.
#[pyclass(frozen, module = "tagmac._tagmac")]
pub struct Filter(Mutex<filter::Filter>);

#[pymethods]
impl Filter {
    #[new]
    fn new(patterns: &Bound<'_, PyAny>) -> PyResult<Filter> {
        let patterns = extracted::<PyBackedBytes>(patterns)?;
        let patterns: Vec<_> = patterns.iter().map(|pattern| pattern.to_vec()).collect();
        let filter = filter::Filter::new(&patterns);
        let filter = filter.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Filter(Mutex::new(filter)))
    }

    /// Returns whether the object with this name is left out.
    fn leaves_out(&self, name: &[u8]) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).leaves_out_below(name)
    }
}

/// Returns the readings that find renamed objects: the index of a new object among `sizes`, and the
/// nonce to tag it under.
///
/// `missing` has a size, a nonce and a tag for each missing object. It and `sizes` are in byte
/// order of the names.
#[pyfunction]
pub fn rename_readings<'py>(
    py: Python<'py>,
    key: &Bound<'py, Key>,
    missing: &Bound<'py, PyAny>,
    sizes: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let missing = extracted::<Fields>(missing)?;
    let missing = contents(key, missing.iter())?;
    let sizes = extracted::<u64>(sizes)?;
    let readings = PyList::empty(py);
    for (number, nonce) in py.detach(|| planned(&missing, &sizes)) {
        let nonce = (!nonce.is_empty()).then(|| PyBytes::new(py, nonce));
        readings.append((number, nonce))?;
    }
    Ok(readings)
}

/// Returns pairs of the index of a new object and of the missing object that it was.
///
/// `read` has, in the order of `rename_readings`, the index of a new object and its size, nonce and
/// tag as read. Readings that failed may be left out.
#[pyfunction]
pub fn rename_pairs(
    py: Python<'_>,
    key: &Bound<'_, Key>,
    missing: &Bound<'_, PyAny>,
    read: &Bound<'_, PyAny>,
) -> PyResult<Vec<(usize, usize)>> {
    let (missing, read) = (extracted::<Fields>(missing)?, extracted::<(usize, Fields)>(read)?);
    let missing = contents(key, missing.iter())?;
    let found = contents(key, read.iter().map(|(_, fields)| fields))?;
    let read: Vec<_> = read.iter().map(|(number, _)| *number).zip(found).collect();
    Ok(py.detach(|| paired(&missing, &read)))
}

/// The size, nonce and tag of an object.
type Fields = (u64, Option<PyBackedBytes>, PyBackedBytes);

fn contents<'a>(
    key: &Bound<'_, Key>,
    fields: impl ExactSizeIterator<Item = &'a Fields>,
) -> PyResult<Vec<Content>> {
    let bits = key.get().mac().tag_bits();
    let mut contents = reserved(fields.len())?;
    for (size, nonce, tag) in fields {
        let nonce = nonce.as_ref().map_or(Ok(Vec::new()), |nonce| copied(nonce))?;
        let tag = Tag::new(tag, bits).map_err(|error| failed(Error::usage(error)))?;
        contents.push(Content { size: *size, nonce, tag: Some(tag) });
    }
    Ok(contents)
}

fn manifest_key(key: &Bound<'_, Key>) -> ManifestKey {
    let key = key.get();
    ManifestKey::new(key.mac(), &key.raw_key())
}

fn parse(record: &[u8]) -> PyResult<ShardRecord> {
    ShardRecord::parse(record)
        .map_err(|why| PyValueError::new_err(format!("record of a shard: {why}")))
}
